// The fixed family of tables: a grid of scales (standard deviation 0.12 * 2^(i/4) steps) and kinds
// (shape and fractional mean), and what their symbols cost.
// Where in the flow: the default probability model; both sides hold it, a column names a place of
// it. Surprise: costs are integers, so that an encoder chooses the same tables on every host.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/entropy/tables.h"

namespace sluice::entropy {

inline constexpr std::int32_t kNumScales = 38;
inline constexpr std::int32_t kNumKinds = 18;

// Costs in 1/256 bit.
inline constexpr std::int32_t kCostPerBit = 256;
// A symbol that its column's table lacks is listed with its position: 16 bits each.
inline constexpr std::int32_t kExceptionCost = 32 * kCostPerBit;
// Cost rows cover these symbols around the centre.
inline constexpr std::int32_t kCostFirst = -128;
inline constexpr std::int32_t kCostSpan = 256;

struct ClassFamily {
  // The table's number in `tables`; total over the grid.
  [[nodiscard]] int table(std::int32_t scale, std::int32_t kind) const {
    return place[scale][kind];
  }
  // Of the symbols kCostFirst, … around the centre: -log2 of the frequency's share; of a symbol
  // that the table lacks, that of the mode and an exception.
  [[nodiscard]] const std::int16_t* costs(int table) const {
    return &costs_[static_cast<std::size_t>(table) * kCostSpan];
  }

  TableSet tables;
  int kind_table = 0;  // how kinds are coded: frequencies fixed in spec.md, section 6
  int place[kNumScales][kNumKinds];
  bool own[kNumScales][kNumKinds];  // the place has a table of its own; encoders use only those
  double sigma[kNumScales];
  std::vector<double> means;            // [table]
  std::vector<double> flatness;         // [table] mean distance from the mean over sigma
  std::vector<std::int32_t> pair_loss;  // [table] of a pair against two symbols, expected
  std::vector<std::int16_t> costs_;     // [table][kCostSpan]
};

// Built at the first call.
[[nodiscard]] const ClassFamily& class_family();

}  // namespace sluice::entropy
