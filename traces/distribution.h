// How the rates of a trace are distributed: shares of its time, or of its steps when it is
// chunk-clocked.
// Where in the flow: beside summarise(); `trace inspect` and `trace plot` show it.
#pragma once

#include <span>
#include <vector>

#include "traces/link_trace.h"

namespace sluice {

class RateDistribution {
 public:
  // `trace` must pass check_trace().
  explicit RateDistribution(const LinkTrace& trace);

  struct Point {
    DataRate rate;
    double fraction = 0;  // of the time, the rate is at most this one
  };
  // One per rate that occurs, ascending; the last fraction is 1.
  [[nodiscard]] std::span<const Point> points() const { return points_; }
  // The lowest rate that is not passed in `fraction` (0..1) of the time.
  [[nodiscard]] DataRate quantile(double fraction) const;
  [[nodiscard]] double zero_fraction() const;
  // Standard deviation over mean; zero when the mean is.
  [[nodiscard]] double coefficient_of_variation() const { return coefficient_of_variation_; }

 private:
  std::vector<Point> points_;
  double coefficient_of_variation_ = 0;
};

}  // namespace sluice
