// What an encoder knows of a column before it chooses a table: a histogram of 64 neighbouring
// symbols, two sets of moments, and how flat it is.
// Where in the flow: filled from a tile's columns, read by model_search.h; every backend shares
// these functions.
#pragma once

#include <cmath>
#include <cstdint>

#include "codec/entropy/kernel.h"
#include "codec/host_device.h"

namespace sluice::entropy {

struct Moments {
  double mean = 0;
  double sigma = 0;
};

// Spans and loops over them are multiples of it: sixteen at a time vectorise.
inline constexpr std::int32_t kCountStride = 16;

struct ColumnCounts {
  std::int32_t low = 0, high = 0;  // the smallest and the largest symbol
  std::int32_t start = 0;          // the first symbol of the window
  std::int32_t span = 0;           // symbols of the window that can have a count
  std::int32_t outside = 0;        // rows whose symbol is not in the window
  alignas(32) std::int16_t counts[kCostWindow]{};
  Moments all;
  Moments inner;  // of the symbols within 2.5 sigma of the mean of all: outliers are exceptions
  // Of a narrow column, the mean distance from the mean over sigma: 0.80 for a normal one (of many
  // steps), less for a peaked one, more for one with two ends. 0 where sigma is 0.
  double flatness = 0;

  // All its symbols are in the window.
  [[nodiscard]] SLUICE_HOST_DEVICE bool is_narrow() const { return high - low < kCostWindow; }

  // Before counting: extents known, and of a narrow column the window.
  SLUICE_HOST_DEVICE void start_with(std::int32_t lowest, std::int32_t highest) {
    low = start = lowest;
    high = highest;
    outside = 0;
    const std::int32_t width = (high - low + kCountStride) / kCountStride * kCountStride;
    span = width < kCostWindow ? width : kCostWindow;
  }
  // A narrow column's moments. `sum` and `squares`: of the places in the window (0, 1, …) of all
  // rows.
  SLUICE_HOST_DEVICE void finish_narrow(std::int64_t rows, std::int64_t sum, std::int64_t squares);
  // Counts and moments of a column that no window holds, symbols[row * stride], the window around
  // the inner mean.
  SLUICE_HOST_DEVICE void count_wide(const std::int16_t* symbols, std::int64_t stride,
                                     std::int64_t rows);
};

// Of the first `lanes` columns of a block, 1 to 2048 rows. The others are left as they are.
void count_columns(const std::int16_t* symbols, std::int64_t rows, int lanes,
                   const Kernels& kernels, ColumnCounts (&columns)[kLanes]);

namespace detail {

// Sums over symbols relative to a column's origin. Exact.
struct Sums {
  std::int64_t count = 0, sum = 0, squares = 0;
  SLUICE_HOST_DEVICE void add(std::int64_t symbol, std::int64_t times) {
    count += times;
    sum += symbol * times;
    squares += symbol * symbol * times;
  }
  // Exact until the last division and the root.
  [[nodiscard]] SLUICE_HOST_DEVICE Moments moments(std::int32_t origin) const {
    const auto n = static_cast<double>(count);
    const auto spread = static_cast<double>(count * squares - sum * sum);
    return {origin + static_cast<double>(sum) / n, std::sqrt(spread) / n};
  }
};

// Whether a symbol lies within 2.5 sigma of the mean.
struct InnerRange {
  double first, last;
  SLUICE_HOST_DEVICE explicit InnerRange(const Moments& all)
      : first(all.mean - 2.5 * all.sigma), last(all.mean + 2.5 * all.sigma) {}
  [[nodiscard]] SLUICE_HOST_DEVICE bool holds(std::int32_t symbol) const {
    return symbol >= first && symbol <= last;
  }
};

// The distances above the mean sum to those below it: twice the latter, times count.
[[nodiscard]] SLUICE_HOST_DEVICE inline double flatness_of(const ColumnCounts& column,
                                                           const Sums& sums) {
  if (column.all.sigma == 0) return 0;
  std::int64_t below = 0, sum_below = 0;
  for (std::int32_t i = 0; i * sums.count <= sums.sum; ++i) {
    below += column.counts[i];
    sum_below += std::int64_t{column.counts[i]} * i;
  }
  const auto distances = static_cast<double>(2 * (below * sums.sum - sum_below * sums.count));
  const auto n = static_cast<double>(sums.count);
  return distances / (n * n) / column.all.sigma;
}

}  // namespace detail

SLUICE_HOST_DEVICE inline void ColumnCounts::finish_narrow(std::int64_t rows, std::int64_t sum,
                                                           std::int64_t squares) {
  const detail::Sums sums{rows, sum, squares};
  all = inner = sums.moments(start);
  flatness = detail::flatness_of(*this, sums);
  const detail::InnerRange range(all);
  if (range.holds(low) && range.holds(high)) return;
  detail::Sums kept;
  for (std::int32_t i = 0; i < span; ++i) {
    if (range.holds(start + i)) kept.add(i, counts[i]);
  }
  inner = kept.moments(start);
}

SLUICE_HOST_DEVICE inline void ColumnCounts::count_wide(const std::int16_t* symbols,
                                                        std::int64_t stride, std::int64_t rows) {
  detail::Sums sums, kept;
  for (std::int64_t row = 0; row < rows; ++row) sums.add(symbols[row * stride] - low, 1);
  all = sums.moments(low);
  const detail::InnerRange range(all);
  for (std::int64_t row = 0; row < rows; ++row) {
    if (range.holds(symbols[row * stride])) kept.add(symbols[row * stride] - low, 1);
  }
  inner = kept.moments(low);
  start = static_cast<std::int32_t>(std::floor(inner.mean)) - kCostWindow / 2;
  span = kCostWindow;
  flatness = 0;
  for (std::int16_t& count : counts) count = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto place = static_cast<std::uint32_t>(symbols[row * stride] - start);
    if (place < static_cast<std::uint32_t>(kCostWindow)) {
      ++counts[place];
    } else {
      ++outside;
    }
  }
}

}  // namespace sluice::entropy
