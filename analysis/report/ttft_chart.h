// The distribution of the time to first token under each policy, as empirical cumulative curves.
// Surprise: loads without a first token count in the denominator, so their curve ends below 100 %.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/layout.h"
#include "base/units.h"

namespace sluice {

struct TtftCurve {
  std::string policy;
  std::string value_text;  // beside the name in the legend
  std::string colour_class, dash_class;
  std::vector<Duration> finished;  // TTFT of the loads with a first token, ascending
  std::int64_t num_loads = 0;      // with those that have none
};

struct TtftChart {
  std::string description, legend_title;
  std::vector<TtftCurve> curves;  // in the legend's order
  std::vector<Duration> slos;     // distinct, ascending; a line each
};

// The axis is logarithmic when the longest time is more than 20 times the shortest.
[[nodiscard]] std::string draw(const TtftChart& chart, Layout layout);

}  // namespace sluice
