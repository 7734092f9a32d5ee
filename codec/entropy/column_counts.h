// What an encoder knows of a column before it chooses a table: a histogram of 64 neighbouring
// symbols and two sets of moments.
// Where in the flow: filled from a tile's columns, read by column_models.h.
#pragma once

#include <cstdint>

#include "codec/entropy/kernel.h"

namespace sluice::entropy {

struct Moments {
  double mean = 0;
  double sigma = 0;
};

struct ColumnCounts {
  std::int32_t low = 0, high = 0;  // the smallest and the largest symbol
  std::int32_t start = 0;          // the first symbol of the window
  std::int32_t span = 0;           // symbols of the window that can have a count, a multiple of 16
  std::int32_t outside = 0;        // rows whose symbol is not in the window
  alignas(32) std::int16_t counts[kCostWindow]{};
  Moments all;
  // Of a narrow column, the mean distance from the mean over sigma: 0.80 for a normal one (of many
  // steps), less for a peaked one, more for one with two ends. 0 where sigma is 0.
  double flatness = 0;
  // All its symbols are in the window.
  [[nodiscard]] bool is_narrow() const { return high - low < kCostWindow; }

  Moments inner;  // of the symbols within 2.5 sigma of the mean of all: outliers are exceptions
};

// Of the first `lanes` columns of a block, 1 to 2048 rows. The others are left as they are.
void count_columns(const std::int16_t* symbols, std::int64_t rows, int lanes,
                   const Kernels& kernels, ColumnCounts (&columns)[kLanes]);

}  // namespace sluice::entropy
