#include "codec/entropy/column_counts.h"

#include <algorithm>
#include <cstring>

namespace sluice::entropy {
namespace {

// Places of a window and their squares, to weigh counts with.
struct Places {
  std::int16_t first[kCostWindow]{};
  std::int16_t second[kCostWindow]{};
};
constexpr Places make_places() {
  Places places;
  for (int i = 0; i < kCostWindow; ++i) {
    places.first[i] = static_cast<std::int16_t>(i);
    places.second[i] = static_cast<std::int16_t>(i * i);
  }
  return places;
}
constexpr Places kPlaces = make_places();

}  // namespace

void count_columns(const std::int16_t* symbols, std::int64_t rows, int lanes,
                   const Kernels& kernels, ColumnCounts (&columns)[kLanes]) {
  std::int16_t low[kLanes], high[kLanes];
  kernels.find_extents(symbols, rows, low, high);
  std::int32_t widest = 0;  // of the narrow columns
  for (int lane = 0; lane < lanes; ++lane) {
    columns[lane].start_with(low[lane], high[lane]);
    if (columns[lane].is_narrow()) widest = std::max(widest, high[lane] - low[lane] + 1);
  }
  std::int16_t counts[kLanes][kCostWindow];
  constexpr std::int32_t kValues = 8;
  const std::int32_t counted = (widest + kValues - 1) / kValues * kValues;
  if (widest > 0) kernels.count(symbols, rows, low, counted, counts);
  for (int lane = 0; lane < lanes; ++lane) {
    ColumnCounts& column = columns[lane];
    if (!column.is_narrow()) {
      column.count_wide(symbols + lane, kLanes, rows);
      continue;
    }
    const std::int32_t used = std::min(counted, column.span);
    std::memcpy(column.counts, counts[lane], static_cast<std::size_t>(used) * sizeof *counts[lane]);
    std::fill(column.counts + used, column.counts + column.span, std::int16_t{0});
    column.finish_narrow(rows, kernels.weigh(column.counts, kPlaces.first, column.span),
                         kernels.weigh(column.counts, kPlaces.second, column.span));
  }
}

}  // namespace sluice::entropy
