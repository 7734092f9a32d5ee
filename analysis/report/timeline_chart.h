// One load under each policy on one time axis: what was fetched when and at which level, when it
// was decoded or recomputed, when the first token came, and how fast the bytes arrived.
// Surprise: the link's capacity is not in the store, so the strip under each policy shows what its
// transfers received.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/layout.h"
#include "analysis/report/level_scheme.h"
#include "sim/session/record.h"

namespace sluice {

struct TimelinePanel {
  std::string policy;
  std::string colour_class;
  const LoadRecord* load = nullptr;  // outlives the chart
};

struct TimelineChart {
  std::string description;
  const LevelScheme* levels = nullptr;  // outlives the chart
  std::vector<TimelinePanel> panels;
};

[[nodiscard]] std::string draw(const TimelineChart& chart, Layout layout);

// "first token after 0.83 s, in time", "no first token".
[[nodiscard]] std::string outcome_text(const LoadRecord& load);

}  // namespace sluice
