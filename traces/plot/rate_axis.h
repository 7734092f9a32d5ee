// The rate axis that all panels of a picture share: its unit, its ends, linear or logarithmic.
// Where in the flow: under link_plot.cc.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/drawing/scale.h"
#include "traces/plot/link_plot.h"

namespace sluice {

class RateAxis {
 public:
  // Left to choose, it is logarithmic when the highest rate is more than 20 times the lowest mean.
  // Then it reaches down to the lowest mean of a pixel column.
  RateAxis(std::span<const PlottedLink> links, std::size_t num_columns, RateAxisKind kind);
  [[nodiscard]] Scale along(Range positions) const {
    return logarithmic_ ? Scale::logarithmic(domain_, positions)
                        : Scale::linear(domain_, positions);
  }
  [[nodiscard]] double value(DataRate rate) const {
    return static_cast<double>(rate.bits_per_sec()) / bps_per_unit_;
  }
  [[nodiscard]] std::string_view unit() const { return unit_; }
  [[nodiscard]] bool logarithmic() const { return logarithmic_; }

 private:
  double bps_per_unit_ = 1;
  std::string_view unit_;
  bool logarithmic_ = false;
  Range domain_;
};

}  // namespace sluice
