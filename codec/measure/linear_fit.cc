#include "codec/measure/linear_fit.h"

#include <algorithm>
#include <cmath>

#include "base/assert.h"

namespace sluice {

LinearTime fit_time(std::span<const TimePoint> points) {
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const TimePoint& point : points) {
    const auto elements = static_cast<double>(point.num_elements);
    const auto ns = static_cast<double>(to_ns(point.time));
    n += 1;
    x += elements;
    y += ns;
    xx += elements * elements;
    xy += elements * ns;
  }
  SLUICE_ASSERT(xx > 0, "fit_time: no point with elements");
  const double spread = n * xx - x * x;
  double slope = spread > 0 ? (n * xy - x * y) / spread : xy / xx;
  double fixed = (y - slope * x) / n;
  if (spread <= 0 || fixed < 0) {
    fixed = 0;
    slope = xy / xx;
  }
  if (slope < 0) {
    slope = 0;
    fixed = y / n;
  }
  return {.fixed = nanoseconds(std::llround(fixed)),
          .ns_per_element = slope,
          .source = FactSource::kMeasured};
}

Duration median(std::vector<Duration> times) {
  SLUICE_ASSERT(!times.empty(), "median of nothing");
  std::sort(times.begin(), times.end());
  const std::size_t middle = times.size() / 2;
  return times.size() % 2 == 1 ? times[middle] : (times[middle - 1] + times[middle]) / 2;
}

}  // namespace sluice
