// A trace reduced to the pixel columns of a picture: what happens to the rate within each.
// Where in the flow: under link_plot.cc; one pass over the steps, however many.
#pragma once

#include <cstddef>
#include <vector>

#include "traces/link_trace.h"

namespace sluice {

struct Column {
  DataRate lowest, highest, mean;
  bool operator==(const Column&) const = default;
};

// `num_columns` > 0 equal shares of the trace's time, or of its chunks. A column narrower than a
// nanosecond or a chunk holds the rate at its beginning.
[[nodiscard]] std::vector<Column> columns_of(const LinkTrace& trace, std::size_t num_columns);

// A stretch at rate zero, as fractions of the whole trace.
struct Outage {
  double begin_fraction = 0, end_fraction = 0;
};
// Those that take at least `fraction` of the trace, in order.
[[nodiscard]] std::vector<Outage> outages_of(const LinkTrace& trace, double fraction);

}  // namespace sluice
