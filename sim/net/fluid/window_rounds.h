// Start-up as rounds of one RTT: a window's worth leaves at the speed of the link, then silence
// until the round ends.
// Where in the flow: one per set of connections of the fluid tier. Time is an argument; no clock
// inside.
// Surprises: the window grows by what was sent, so it doubles only in rounds that used it up; once
// the link is slower than window / RTT, rounds make no difference and there are none.
#pragma once

#include "base/nanobits.h"
#include "sim/net/framing.h"
#include "sim/net/network.h"

namespace sluice {

class WindowRounds {
 public:
  WindowRounds(const TransportSpec& transport, const Framing& framing, Duration round_trip);
  // Data begin to flow at `now` over so many connections; new ones bring an initial window.
  void begin(Instant now, std::int32_t connections);
  // `amount` of wire data left until `now`.
  void sent(Instant now, Nanobits amount);
  // Outside a round: begins one if the window is less than what `rate` sends in an RTT.
  void admit(Instant now, DataRate rate);
  // At round_end(): the acknowledgements are back, the window has grown.
  void end_round();

  // What may still leave in this round; nullopt outside a round.
  [[nodiscard]] std::optional<Nanobits> budget() const {
    return round_end_ ? std::optional{budget_} : std::nullopt;
  }
  [[nodiscard]] std::optional<Instant> round_end() const { return round_end_; }
  [[nodiscard]] bool is_exhausted() const { return round_end_ && budget_ == Nanobits{}; }

 private:
  void grow();

  Nanobits initial_, max_;  // wire data per connection
  Duration round_trip_;
  Duration silence_max_;  // after which the window is the initial one again
  bool limits_;           // false: never in a round
  bool idle_reset_;

  Nanobits window_;        // per connection
  std::int32_t open_ = 0;  // connections that exist
  std::int32_t used_ = 0;  // of them, by the current transfer
  Nanobits ungrown_;       // sent since the window last grew
  std::optional<Instant> round_end_;
  Nanobits budget_;
  Instant last_sent_;
};

}  // namespace sluice
