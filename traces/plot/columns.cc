#include "traces/plot/columns.h"

#include <algorithm>

namespace sluice {
namespace {

// Positions along a trace: nanoseconds, or chunks.
class Positions {
 public:
  explicit Positions(const LinkTrace& trace) : trace_(&trace) {}
  [[nodiscard]] bool timed() const { return trace_->clock == TraceClock::kTime; }
  [[nodiscard]] std::int64_t begin(std::size_t step) const {
    return timed() ? to_ns(trace_->steps[step].start) : static_cast<std::int64_t>(step);
  }
  [[nodiscard]] std::int64_t end(std::size_t step) const {
    return step + 1 < trace_->steps.size() ? begin(step + 1) : total();
  }
  [[nodiscard]] std::int64_t total() const {
    return timed() ? to_ns(trace_->length) : static_cast<std::int64_t>(trace_->steps.size());
  }

 private:
  const LinkTrace* trace_;
};

}  // namespace

std::vector<Column> columns_of(const LinkTrace& trace, std::size_t num_columns) {
  const Positions positions(trace);
  const auto boundary = [&](std::size_t column) {
    return static_cast<std::int64_t>(detail::Wide{positions.total()} *
                                     static_cast<std::int64_t>(column) /
                                     static_cast<std::int64_t>(num_columns));
  };
  std::vector<Column> columns;
  columns.reserve(num_columns);
  std::size_t step = 0;
  for (std::size_t c = 0; c < num_columns; ++c) {
    const std::int64_t begin = boundary(c), end = std::max(boundary(c + 1), begin + 1);
    while (positions.end(step) <= begin) ++step;
    Column column{trace.steps[step].rate, trace.steps[step].rate, {}};
    TransferSum sum;
    for (std::size_t i = step; i < trace.steps.size() && positions.begin(i) < end; ++i) {
      const DataRate rate = trace.steps[i].rate;
      column.lowest = std::min(column.lowest, rate);
      column.highest = std::max(column.highest, rate);
      sum.add(rate,
              nanoseconds(std::min(end, positions.end(i)) - std::max(begin, positions.begin(i))));
    }
    column.mean = sum.mean_over(nanoseconds(end - begin));
    columns.push_back(column);
  }
  return columns;
}

std::vector<Outage> outages_of(const LinkTrace& trace, double fraction) {
  const Positions positions(trace);
  const auto total = static_cast<double>(positions.total());
  std::vector<Outage> outages;
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    if (trace.steps[i].rate > DataRate::zero()) continue;
    const std::int64_t begin = positions.begin(i);
    while (i + 1 < trace.steps.size() && trace.steps[i + 1].rate == DataRate::zero()) ++i;
    const std::int64_t end = positions.end(i);
    if (static_cast<double>(end - begin) < fraction * total) continue;
    outages.push_back({static_cast<double>(begin) / total, static_cast<double>(end) / total});
  }
  return outages;
}

}  // namespace sluice
