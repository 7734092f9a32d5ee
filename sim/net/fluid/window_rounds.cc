#include "sim/net/fluid/window_rounds.h"

#include <algorithm>

namespace sluice {

WindowRounds::WindowRounds(const TransportSpec& transport, const Framing& framing,
                           Duration round_trip)
    : initial_(
          Nanobits::of(framing.wire_size(framing.payload * transport.initial_window_segments))),
      max_(Nanobits::of(framing.wire_size(transport.max_window))),
      round_trip_(round_trip),
      silence_max_(round_trip + transport.idle_timeout),
      limits_(transport.slow_start && round_trip > Duration::zero()),
      idle_reset_(transport.idle_reset) {}

void WindowRounds::begin(Instant now, std::int32_t connections) {
  if (round_end_ && now >= *round_end_) end_round();
  if (!round_end_) grow();
  if (open_ > 0 && idle_reset_ && now - last_sent_ > silence_max_)
    window_ = std::min(window_, initial_);
  if (connections > open_) {
    window_ = (window_ * open_ + initial_ * (connections - open_)) / connections;
    open_ = connections;
  }
  used_ = connections;
}

void WindowRounds::sent(Instant now, Nanobits amount) {
  last_sent_ = now;
  ungrown_ += amount;
  if (round_end_) budget_ -= amount;
}

void WindowRounds::grow() {
  if (used_ > 0) window_ = std::min(max_, window_ + ungrown_ / used_);
  ungrown_ = Nanobits{};
}

void WindowRounds::admit(Instant now, DataRate rate) {
  if (!limits_ || round_end_) return;
  grow();
  const Nanobits window = window_ * used_;
  if (window >= Nanobits::flown(rate, round_trip_)) return;
  round_end_ = now + round_trip_;
  budget_ = window;
}

void WindowRounds::end_round() {
  round_end_.reset();
  budget_ = Nanobits{};
  grow();
}

}  // namespace sluice
