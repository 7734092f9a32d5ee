#include "codec/entropy/column_counts.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sluice::entropy {
namespace {

// Sums over symbols relative to a column's smallest one.
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

void count_narrow(ColumnCounts& column) {
  Sums all, inner;
  for (int i = 0; i < kCostWindow; ++i) all.add(i, column.counts[i]);
  column.all = all.moments(column.start);
  const InnerRange range(column.all);
  for (int i = 0; i < kCostWindow; ++i) {
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
                   ColumnCounts (&columns)[kLanes]) {
  std::int16_t low[kLanes], high[kLanes];
  std::memcpy(low, symbols, sizeof low);
  std::memcpy(high, symbols, sizeof high);
  for (std::int64_t row = 1; row < rows; ++row) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::int16_t symbol = symbols[row * kLanes + lane];
      low[lane] = std::min(low[lane], symbol);
      high[lane] = std::max(high[lane], symbol);
    }
  }
  std::int16_t* windows[kLanes];  // null: no window holds the column
  for (int lane = 0; lane < kLanes; ++lane) {
    ColumnCounts& column = columns[lane];
    column = {};
    column.low = column.start = low[lane];
    column.high = high[lane];
    windows[lane] = column.counts;
  }
  bool are_narrow = true;
  for (int lane = 0; lane < lanes; ++lane) {
    if (high[lane] - low[lane] < kCostWindow) continue;
    are_narrow = false;
    count_wide(symbols + lane, rows, columns[lane]);
  }
  for (int lane = 0; lane < lanes; ++lane) {
    if (columns[lane].high - columns[lane].low >= kCostWindow) windows[lane] = nullptr;
  }
  if (are_narrow && lanes == kLanes) {
    for (std::int64_t row = 0; row < rows; ++row) {
      for (int lane = 0; lane < kLanes; ++lane) {
        ++windows[lane][symbols[row * kLanes + lane] - low[lane]];
      }
    }
  } else {
    for (int lane = 0; lane < lanes; ++lane) {
      for (std::int64_t row = 0; windows[lane] != nullptr && row < rows; ++row) {
        ++windows[lane][symbols[row * kLanes + lane] - low[lane]];
      }
    }
  }
  for (int lane = 0; lane < lanes; ++lane) {
    if (windows[lane] != nullptr) count_narrow(columns[lane]);
  }
}

}  // namespace sluice::entropy
