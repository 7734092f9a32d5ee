// A trace as rates to set and when: changes closer together than `shortest` become their mean.
// Where in the flow: the emulator `kernel` sets what this says, at the instants that it says.
#pragma once

#include <optional>

#include "sim/net/network.h"

namespace sluice {

class RateSteps {
 public:
  // `link` must outlive it; its trace is clocked by time.
  RateSteps(const LinkSpec& link, Duration shortest)
      : cursor_(link.capacity, link.trace_offset), shortest_(shortest) {}
  // To hold from `at` until next(at).
  [[nodiscard]] DataRate rate(Instant at) const;
  // nullopt: the rate of `at` holds for ever.
  [[nodiscard]] std::optional<Instant> next(Instant at) const;
  [[nodiscard]] DataSize capacity_until(Instant at) const {
    return cursor_.capacity_between(kRunStart, at);
  }

 private:
  TraceCursor cursor_;
  Duration shortest_;
};

}  // namespace sluice
