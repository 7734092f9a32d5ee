// A standard normal value that wanders: an Ornstein-Uhlenbeck process of mean 0, variance 1 and
// correlation exp(-t / time_constant), sampled every step.
// Where in the flow: under ou.cc, quantiles.cc and mmwave.cc.
#pragma once

#include <cmath>

#include "base/random.h"
#include "base/units.h"

namespace sluice {

class GaussianWalk {
 public:
  // Starts in its stationary law.
  GaussianWalk(Duration step, Duration time_constant, RandomStream& random)
      : kept_(std::exp(-to_seconds(step) / to_seconds(time_constant))),
        added_(std::sqrt(-std::expm1(-2 * to_seconds(step) / to_seconds(time_constant)))),
        value_(random.normal(0, 1)) {}

  [[nodiscard]] double value() const { return value_; }
  // One step on, exactly: what is kept of the value and what is added have variances that sum to 1
  // (Gillespie, "Exact numerical simulation of the Ornstein-Uhlenbeck process and its integral",
  // Phys. Rev. E 54, 1996).
  void advance(RandomStream& random) { value_ = kept_ * value_ + added_ * random.normal(0, 1); }

 private:
  double kept_, added_, value_;
};

// To the nearest whole bit/s, clipped to low..high.
[[nodiscard]] inline DataRate to_rate(double bits_per_sec, DataRate low, DataRate high) {
  if (!(bits_per_sec > static_cast<double>(low.bits_per_sec()))) return low;
  if (bits_per_sec >= static_cast<double>(high.bits_per_sec())) return high;
  return DataRate::bits_per_sec(std::llround(bits_per_sec));
}

}  // namespace sluice
