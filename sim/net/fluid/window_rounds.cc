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

// When the last byte leaves, all of the window W is in flight (or all that was sent, if that is
// less than W), and W has grown by half of what this round would have brought. What is acknowledged
// after that lets it grow only until half of it is in flight, which is when a third has come back:
// 4/3 * (W + sent) / 2, and no less than before if this was the first round.
void WindowRounds::end_data(const WindowRules& rules) {
  if (!rules.limits || used_ == 0) return;
  const Nanobits before = window_;
  window_ = std::min(rules.max, (window_ + ungrown_ / used_) * 2 / 3);
  if (is_fresh_) window_ = std::max(window_, before);
  ungrown_ = Nanobits{};
  is_fresh_ = true;
}

void WindowRounds::end_round(const WindowRules& rules) {
  round_end_ = kNever;
  budget_ = Nanobits{};
  if (ungrown_ > Nanobits{}) is_fresh_ = false;
  grow(rules);
}

}  // namespace sluice
