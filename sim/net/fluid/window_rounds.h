// Start-up as rounds of one RTT: a window's worth leaves at the speed of the link, then silence
// until the round ends.
// Where in the flow: one per set of connections of the fluid tier. Time is an argument; no clock
// inside; a plain value, so that the network can try out what comes and come back.
// Surprises: the window grows by what was sent, so it doubles only in rounds that used it up; once
// the link is slower than window / RTT, rounds make no difference and there are none.
#pragma once

#include <algorithm>

#include "base/nanobits.h"
#include "sim/net/framing.h"
#include "sim/net/network.h"

namespace sluice {

// What does not change: of one path.
struct WindowRules {
  WindowRules(const TransportSpec& transport, const Framing& framing, Duration round_trip);
  Nanobits initial, max;  // wire data per connection
  Duration silence_max;   // after which the window is the initial one again
  bool limits;            // false: never in a round
  bool idle_reset;
};

class WindowRounds {
 public:
  // Data begin to flow at `now` over so many connections; new ones bring an initial window.
  void begin(const WindowRules& rules, Instant now, std::int32_t connections);
  // `amount` of wire data left until `now`.
  void sent(Instant now, Nanobits amount);
  // Outside a round: begins one if the window is less than what `rate` sends in `round_trip`.
  void admit(const WindowRules& rules, Instant now, DataRate rate, Duration round_trip);
  // All data have left, and nothing follows at once: a sender that has less than half of its window
  // in flight does not let it grow.
  void end_data(const WindowRules& rules);
  // At round_end(): the acknowledgements are back, the window has grown.
  void end_round(const WindowRules& rules);

  [[nodiscard]] bool in_round() const { return round_end_ != kNever; }
  // Of the connections in use together, grown by all that was sent.
  [[nodiscard]] Nanobits whole(const WindowRules& rules) const {
    return std::min(rules.max * used_, window_ * used_ + ungrown_);
  }
  // Instant::max() outside a round.
  [[nodiscard]] Instant round_end() const { return round_end_; }
  // What may still leave in this round; meaningless outside a round.
  [[nodiscard]] Nanobits budget() const { return budget_; }
  [[nodiscard]] bool is_exhausted() const { return in_round() && budget_ == Nanobits{}; }

 private:
  static constexpr Instant kNever = Instant::max();
  void grow(const WindowRules& rules);

  Nanobits window_;   // per connection
  Nanobits ungrown_;  // sent since the window last grew
  Nanobits budget_;
  Instant round_end_ = kNever;
  Instant last_sent_;
  bool is_fresh_ = true;   // nothing was in flight when this round began
  std::int32_t open_ = 0;  // connections that exist
  std::int32_t used_ = 0;  // of them, by the current transfer
};

}  // namespace sluice
