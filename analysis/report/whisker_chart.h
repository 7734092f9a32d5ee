// A dot and its interval per row: violation rates, and differences against a reference.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/report/layout.h"
#include "analysis/score/interval.h"

namespace sluice {

struct WhiskerRow {
  std::string label, value_text;
  double value = 0;
  Interval interval;
  std::string colour_class;
  bool is_reference = false;  // drawn hollow
};

struct WhiskerChart {
  std::string description;
  std::string measure;           // what the axis measures, with its unit
  std::vector<WhiskerRow> rows;  // from top to bottom
  std::optional<double> reference_line;
  double band = 0;  // differences within +-band do not matter; drawn as a light band when > 0
};

// The axis begins or ends at zero unless both signs occur.
[[nodiscard]] std::string draw(const WhiskerChart& chart, Layout layout);

}  // namespace sluice
