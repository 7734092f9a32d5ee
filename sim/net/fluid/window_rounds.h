// Start-up as rounds of one RTT: a window's worth leaves at the speed of the link, then silence
// until the round ends.
// Where in the flow: one per set of connections of the fluid tier. Time is an argument; no clock
// inside; a plain value, so that the network can try out what comes and come back.
// Surprises: the window grows by what was sent, so it doubles only in rounds that used it up, and
// by a twentieth of it once HyStart has ended slow start; when the link is slower than window /
// RTT, rounds make no difference and there are none.
#pragma once

#include <algorithm>
#include <optional>

#include "base/nanobits.h"
#include "sim/net/framing.h"
#include "sim/net/network.h"

namespace sluice {

// What does not change: of one path.
struct WindowRules {
  WindowRules(const TransportSpec& transport, const Framing& framing, Duration path_round_trip);
  Nanobits initial, max;  // wire data per connection
  Nanobits packet;
  Duration round_trip;
  Duration timeout;  // each such silence halves the window
  bool limits;       // false: never in a round
  bool idle_reset, hystart, is_paced;
};

class WindowRounds {
 public:
  // Data begin to flow at `now` over so many connections; new ones bring an initial window.
  void begin(const WindowRules& rules, Instant now, std::int32_t connections);
  // `amount` of wire data left until `now`, of it alone on its links in the time of `alone`.
  void sent(const WindowRules& rules, Instant now, Nanobits amount, Duration alone) {
    if (!rules.limits) return;
    last_sent_ = now;
    ungrown_ += amount;
    ungrown_time_ += alone;
    unused_ = max(Nanobits{}, unused_ - amount);
    if (in_round()) budget_ -= amount;
  }
  // Outside a round: begins one if the window is less than what `rate` sends in `round_trip`.
  // `rate` is a share of `line`, or there is nobody to share with.
  void admit(const WindowRules& rules, Instant now, DataRate rate, Duration round_trip,
             std::optional<DataRate> line) {
    if (!rules.limits || round_trip == Duration::zero() || in_round()) return;
    grow(rules);
    if (rules.hystart && !size_.has_threshold()) look(rules, now, rate, round_trip, line);
    const Nanobits window = size_.window * used_;
    if (window < Nanobits::flown(rate, round_trip)) begin_round(now + round_trip, window);
  }
  // All data have left, and nothing follows at once: their acknowledgements are the last.
  void end_data(const WindowRules& rules);
  // At round_end(): the acknowledgements are back, the window has grown.
  void end_round(const WindowRules& rules) {
    round_end_ = kNever;
    budget_ = Nanobits{};
    grow(rules);
  }

  [[nodiscard]] bool in_round() const { return round_end_ != kNever; }
  // Of the connections in use together, grown by all that was sent.
  [[nodiscard]] Nanobits whole(const WindowRules& rules) const {
    return grown(rules).window * used_;
  }
  // What must be sent until whole() has about doubled.
  [[nodiscard]] Nanobits until_doubled(const WindowRules& rules) const;
  // Instant::max() outside a round.
  [[nodiscard]] Instant round_end() const { return round_end_; }
  // What may still leave in this round; meaningless outside a round.
  [[nodiscard]] Nanobits budget() const { return budget_; }
  [[nodiscard]] bool is_exhausted() const { return in_round() && budget_ == Nanobits{}; }

 private:
  static constexpr Instant kNever = Instant::max();
  // After slow start without a loss the window grows by this part of what is acknowledged, as
  // CongestionWindow does.
  static constexpr std::int64_t kGrowthPart = 20;
  // Of each connection.
  struct Size {
    Nanobits window;
    Nanobits threshold = Nanobits::max();  // of slow start; max() until the path was found full
    [[nodiscard]] bool has_threshold() const { return threshold != Nanobits::max(); }
    [[nodiscard]] bool is_slow_start() const { return window < threshold; }
  };
  // Unless all of the window was in use it does not grow, but in slow start, where half is enough
  // (end_data).
  [[nodiscard]] bool has_grown() const {
    return used_ != 0 && unused_ == Nanobits{} && ungrown_ != Nanobits{};
  }
  [[nodiscard]] Size grown(const WindowRules& rules) const {
    Size to = size_;
    if (!has_grown()) return to;
    const Nanobits doubling = used_ == 1 ? ungrown_ : ungrown_ / used_;
    if (rules.hystart && !to.has_threshold()) to.threshold = full_path(rules);
    const Nanobits slow_start =
        to.is_slow_start() ? min(doubling, to.threshold - to.window) : Nanobits{};
    to.window = min(rules.max, to.window + slow_start + (doubling - slow_start) / kGrowthPart);
    return to;
  }
  [[nodiscard]] Nanobits full_path(const WindowRules& rules) const;
  void grow(const WindowRules& rules) {
    if (!has_grown()) return;
    size_ = grown(rules);
    train_ += ungrown_time_;
    ungrown_ = Nanobits{};
    ungrown_time_ = Duration::zero();
  }
  void begin_round(Instant until, Nanobits window) {
    round_end_ = until;
    budget_ = window;
    train_ = Duration::zero();
  }
  void leave_slow_start(Nanobits window);
  void look(const WindowRules& rules, Instant now, DataRate rate, Duration round_trip,
            std::optional<DataRate> line) {
    if (line) return look_beside_others(rules, now, rate, *line);
    shortest_ = std::min(shortest_, round_trip);
    looked_ = {now, round_trip, size_.window};
  }
  void look_beside_others(const WindowRules& rules, Instant now, DataRate rate, DataRate line);

  Size size_;
  Nanobits ungrown_;         // sent since the window last grew ...
  Duration ungrown_time_{};  // ... in so much time alone on its links
  Duration train_{};         // of acknowledgements without a gap, before those of what is not grown
  Duration shortest_ = Duration::max();  // round trip with its time in queues
  struct Look {
    Instant at;
    Duration round_trip{};  // its time in queues included
    Nanobits window;
  };
  Look looked_;      // a round ago or less
  Nanobits unused_;  // of the window, since nothing was in flight
  Nanobits budget_;
  Instant round_end_ = kNever;
  Instant last_sent_;
  bool is_fresh_ = true;   // nothing is in flight
  std::int32_t open_ = 0;  // connections that exist
  std::int32_t used_ = 0;  // of them, by the current transfer
};

}  // namespace sluice
