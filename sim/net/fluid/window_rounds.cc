#include "sim/net/fluid/window_rounds.h"

#include <algorithm>

namespace sluice {

WindowRules::WindowRules(const TransportSpec& transport, const Framing& framing,
                         Duration round_trip)
    : initial(Nanobits::of(framing.wire_size(framing.payload * transport.initial_window_segments))),
      max(Nanobits::of(framing.wire_size(transport.max_window))),
      silence_max(round_trip + transport.idle_timeout),
      limits(transport.slow_start),
      idle_reset(transport.idle_reset) {}

void WindowRounds::begin(const WindowRules& rules, Instant now, std::int32_t connections) {
  if (now >= round_end_) end_round(rules);
  if (!in_round()) grow(rules);
  if (open_ > 0 && rules.idle_reset && now - last_sent_ > rules.silence_max)
    window_ = std::min(window_, rules.initial);
  if (connections > open_) {
    window_ = (window_ * open_ + rules.initial * (connections - open_)) / connections;
    open_ = connections;
  }
  used_ = connections;
}

void WindowRounds::sent(Instant now, Nanobits amount) {
  last_sent_ = now;
  ungrown_ += amount;
  if (in_round()) budget_ -= amount;
}

void WindowRounds::grow(const WindowRules& rules) {
  if (used_ == 0 || ungrown_ == Nanobits{}) return;
  window_ = std::min(rules.max, window_ + (used_ == 1 ? ungrown_ : ungrown_ / used_));
  ungrown_ = Nanobits{};
}

void WindowRounds::admit(const WindowRules& rules, Instant now, DataRate rate,
                         Duration round_trip) {
  if (!rules.limits || round_trip == Duration::zero() || in_round()) return;
  grow(rules);
  const Nanobits window = window_ * used_;
  if (window >= Nanobits::flown(rate, round_trip)) return;
  round_end_ = now + round_trip;
  budget_ = window;
}

void WindowRounds::end_round(const WindowRules& rules) {
  round_end_ = kNever;
  budget_ = Nanobits{};
  grow(rules);
}

}  // namespace sluice
