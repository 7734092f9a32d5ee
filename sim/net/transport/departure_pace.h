// Spreads departures over the round trip instead of sending all that the window allows at once.
// Where in the flow: one per connection of the tiers with packets; asked only when pacing is on.
// Surprise: it runs ahead of the window by a fifth, and by double in slow start, as Linux does, so
// that the window and not the pace is what limits.
#pragma once

#include <algorithm>

#include "base/units.h"

namespace sluice {

class DeparturePace {
 public:
  explicit DeparturePace(bool is_on) : is_on_(is_on) {}
  [[nodiscard]] bool allows(Instant now) const { return next_at_ <= now; }
  [[nodiscard]] Instant next_at() const { return next_at_; }
  // `payload` leaves now; `round_trip` zero: not known yet.
  void on_departure(Instant now, DataSize payload, DataSize window, Duration round_trip,
                    bool is_slow_start) {
    if (!is_on_ || window <= DataSize::zero()) return;
    const double share = static_cast<double>(payload.bytes()) / static_cast<double>(window.bytes());
    const double ns = share * static_cast<double>(to_ns(round_trip)) / (is_slow_start ? 2.0 : 1.2);
    next_at_ = std::max(next_at_, now) + nanoseconds(static_cast<std::int64_t>(ns));
  }

 private:
  bool is_on_;
  Instant next_at_;
};

}  // namespace sluice
