// Time as a function of size: the least-squares line through measured points, with no negative
// part.
#pragma once

#include <cstdint>
#include <span>

#include "codec/profile.h"

namespace sluice {

struct TimePoint {
  std::int64_t num_elements = 0;
  Duration time{};
};

// fixed + ns_per_element * elements. When the fixed part would be negative (noise), the best line
// through 0. At least one point with elements > 0.
[[nodiscard]] LinearTime fit_time(std::span<const TimePoint> points);

// The middle one, or the mean of the two; at least one.
[[nodiscard]] Duration median(std::vector<Duration> times);

}  // namespace sluice
