#include "codec/entropy/column_counts.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

namespace sluice::entropy {
namespace {

// Sums over symbols relative to a column's origin. Exact.
struct Sums {
  std::int64_t count = 0, sum = 0, squares = 0;
  void add(std::int64_t symbol, std::int64_t times) {
    count += times;
    sum += symbol * times;
    squares += symbol * symbol * times;
  }
  // Exact until the last division and the root.
  [[nodiscard]] Moments moments(std::int32_t origin) const {
    const auto n = static_cast<double>(count);
    const auto spread = static_cast<double>(count * squares - sum * sum);
    return {origin + static_cast<double>(sum) / n, std::sqrt(spread) / n};
  }
};

// Whether a symbol lies within 2.5 sigma of the mean.
struct InnerRange {
  double first, last;
  explicit InnerRange(const Moments& all)
      : first(all.mean - 2.5 * all.sigma), last(all.mean + 2.5 * all.sigma) {}
  [[nodiscard]] bool holds(std::int32_t symbol) const { return symbol >= first && symbol <= last; }
};

// Of a window: 32 bits hold every sum (2048 rows, 64 symbols), and sixteen at a time vectorise.
constexpr std::int32_t kStride = 16;
Sums sums_of(const ColumnCounts& column) {
  std::int32_t count = 0, sum = 0, squares = 0;
  for (std::int32_t first = 0; first < column.span; first += kStride) {
    for (std::int32_t i = 0; i < kStride; ++i) {
      const std::int32_t symbol = first + i, times = column.counts[first + i];
      count += times;
      sum += symbol * times;
      squares += symbol * symbol * times;
    }
  }
  return {count, sum, squares};
}

// Mean distance from the mean, over sigma.
double flatness(const ColumnCounts& column, const Sums& sums) {
  if (column.all.sigma == 0) return 0;
  const auto n = static_cast<std::int32_t>(sums.count), sum = static_cast<std::int32_t>(sums.sum);
  std::int32_t distances = 0;  // times n
  for (std::int32_t first = 0; first < column.span; first += kStride) {
    for (std::int32_t i = 0; i < kStride; ++i) {
      const std::int32_t distance = (first + i) * n - sum;
      distances += column.counts[first + i] * (distance < 0 ? -distance : distance);
    }
  }
  return distances / (static_cast<double>(n) * n) / column.all.sigma;
}

void count_narrow(ColumnCounts& column) {
  const Sums all = sums_of(column);
  column.all = column.inner = all.moments(column.start);
  column.flatness = flatness(column, all);
  const InnerRange range(column.all);
  if (range.holds(column.low) && range.holds(column.high)) return;
  Sums inner;
  for (int i = 0; i < column.span; ++i) {
    if (range.holds(column.start + i)) inner.add(i, column.counts[i]);
  }
  column.inner = inner.moments(column.start);
}

// A column that no window holds: moments from its rows, the window around the inner mean.
void count_wide(const std::int16_t* symbols, std::int64_t rows, ColumnCounts& column) {
  Sums all, inner;
  for (std::int64_t row = 0; row < rows; ++row) all.add(symbols[row * kLanes] - column.low, 1);
  column.all = all.moments(column.low);
  const InnerRange range(column.all);
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int32_t symbol = symbols[row * kLanes];
    if (range.holds(symbol)) inner.add(symbol - column.low, 1);
  }
  column.inner = inner.moments(column.low);
  column.start = static_cast<std::int32_t>(std::floor(column.inner.mean)) - kCostWindow / 2;
  column.span = kCostWindow;
  std::fill(std::begin(column.counts), std::end(column.counts), std::int16_t{0});
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto place = static_cast<std::uint32_t>(symbols[row * kLanes] - column.start);
    if (place < kCostWindow) {
      ++column.counts[place];
    } else {
      ++column.outside;
    }
  }
}

}  // namespace

void count_columns(const std::int16_t* symbols, std::int64_t rows, int lanes,
                   const Kernels& kernels, ColumnCounts (&columns)[kLanes]) {
  std::int16_t low[kLanes], high[kLanes];
  kernels.find_extents(symbols, rows, low, high);
  std::int32_t widest = 0;  // of the narrow columns
  for (int lane = 0; lane < lanes; ++lane) {
    ColumnCounts& column = columns[lane];
    column.low = column.start = low[lane];
    column.high = high[lane];
    column.outside = 0;
    column.span = std::min(kCostWindow, (high[lane] - low[lane] + kStride) / kStride * kStride);
    if (column.is_narrow()) widest = std::max(widest, column.high - column.low + 1);
  }
  std::int16_t counts[kLanes][kCostWindow];
  constexpr std::int32_t kValues = 8;
  const std::int32_t counted = (widest + kValues - 1) / kValues * kValues;
  if (widest > 0) kernels.count(symbols, rows, low, counted, counts);
  for (int lane = 0; lane < lanes; ++lane) {
    ColumnCounts& column = columns[lane];
    if (!column.is_narrow()) {
      count_wide(symbols + lane, rows, column);
      continue;
    }
    const std::int32_t used = std::min(counted, column.span);
    std::memcpy(column.counts, counts[lane], static_cast<std::size_t>(used) * sizeof *counts[lane]);
    std::fill(column.counts + used, column.counts + column.span, std::int16_t{0});
    count_narrow(column);
  }
}

}  // namespace sluice::entropy
