#include "sim/net/fluid/window_rounds.h"

#include <algorithm>

#include "sim/net/transport/hystart.h"

namespace sluice {
namespace {

constexpr std::int64_t kHalvingsMax = 60;

}  // namespace

WindowRules::WindowRules(const TransportSpec& transport, const Framing& framing,
                         Duration path_round_trip)
    : initial(Nanobits::of(framing.wire_size(framing.payload * transport.initial_window_segments))),
      max(Nanobits::of(framing.wire_size(transport.max_window))),
      packet(Nanobits::of(framing.wire_size(framing.payload))),
      round_trip(path_round_trip),
      timeout(path_round_trip + transport.idle_timeout),
      limits(transport.slow_start),
      idle_reset(transport.idle_reset),
      hystart(transport.hystart),
      is_paced(transport.pacing) {}

void WindowRounds::begin(const WindowRules& rules, Instant now, std::int32_t connections) {
  if (!rules.limits) return;
  if (now >= round_end_) end_round(rules);
  if (!in_round()) grow(rules);
  if (open_ > 0 && rules.idle_reset && rules.timeout > Duration::zero() &&
      size_.window > rules.initial && now - last_sent_ > rules.timeout) {
    if (size_.has_threshold()) size_.threshold = std::max(size_.threshold, size_.window * 3 / 4);
    const std::int64_t halvings = std::min((now - last_sent_) / rules.timeout, kHalvingsMax);
    size_.window = std::max(rules.initial, size_.window / (std::int64_t{1} << halvings));
  }
  if (connections > open_) {
    size_.window = (size_.window * open_ + rules.initial * (connections - open_)) / connections;
    open_ = connections;
  }
  used_ = connections;
  if (!std::exchange(is_fresh_, false)) return;
  unused_ = in_round() ? budget_ : size_.window * used_;
  train_ = Duration::zero();
}

// The window at which HyStart finds that the path is full, if it does so among the acknowledgements
// of what was sent since the window last grew (otherwise Nanobits::max()): they come as the data
// left, as a train. One so slow that two packets are more than its gap shows in its delay alone.
// Beside others a window travels as a burst between theirs, which is a short train.
Nanobits WindowRounds::full_path(const WindowRules& rules) const {
  if (ungrown_time_ <= Duration::zero() || size_.window < rules.packet * kHyStartPackets)
    return Nanobits::max();
  const bool is_train =
      ungrown_ * to_ns(kTrainGap) >= rules.packet * 2 * used_ * to_ns(ungrown_time_);
  if (!is_train) {
    const Duration late = rules.round_trip + hystart_delay(rules.round_trip);
    const Nanobits full = ungrown_ * to_ns(late) / to_ns(ungrown_time_) / used_;
    const bool is_late = size_.window + ungrown_ / used_ > full;
    return is_late ? std::max(size_.window, full) : Nanobits::max();
  }
  const Duration train = train_ + ungrown_time_;
  if (train <= rules.round_trip / 2) return Nanobits::max();  // whatever the rest says
  const Duration longest =
      hystart_train(rules.round_trip, rules.round_trip, size_.window.whole_bytes(), rules.is_paced);
  if (train <= longest) return Nanobits::max();
  const Duration before = std::max(Duration::zero(), longest - train_);
  return size_.window + ungrown_ * to_ns(before) / to_ns(ungrown_time_) / used_;
}

// Beside others. A window travels as a burst between theirs, so its acknowledgements are a train at
// the whole rate of the link. With the link as the limit it takes window / rate to travel, its time
// in the queue included. Acknowledgements tell of a round before: of its window and its queue.
void WindowRounds::look_beside_others(const WindowRules& rules, Instant now, DataRate rate,
                                      DataRate line) {
  const Duration seen =
      std::max(rules.round_trip, (size_.window * used_).time_at(rate).value_or(Duration::max()));
  shortest_ = std::min(shortest_, seen);
  if (now - looked_.at < looked_.round_trip) return;
  const Look before = std::exchange(looked_, Look{now, seen, size_.window});
  if (size_.window < rules.packet * kHyStartPackets) return;
  const Duration longest =
      hystart_train(shortest_, seen, before.window.whole_bytes(), rules.is_paced);
  const Nanobits train = Nanobits::flown(line, longest);
  if (before.window > train) {
    leave_slow_start(before.window + train);
  } else if (std::min(before.round_trip, seen) > shortest_ + hystart_delay(shortest_)) {
    leave_slow_start(before.window + rules.packet * 2 * (kDelaySamples + 1));
  }
}

void WindowRounds::leave_slow_start(Nanobits window) {
  size_.threshold = window;
  size_.window = std::min(size_.window, window);
}

Nanobits WindowRounds::until_doubled(const WindowRules& rules) const {
  const Size now = grown(rules);
  return now.window * used_ * (now.is_slow_start() ? 1 : kGrowthPart);
}

// A transfer smaller than the window has used what it sent of it.
void WindowRounds::end_data(const WindowRules& rules) {
  if (!rules.limits || used_ == 0) return;
  if (unused_ > Nanobits{}) {
    const Nanobits used = ungrown_ / used_;
    if (size_.is_slow_start() && used * 2 > size_.window)
      size_.window = std::min({rules.max, size_.window + used, used * 2});
    ungrown_ = Nanobits{};
    ungrown_time_ = Duration::zero();
  }
  grow(rules);
  is_fresh_ = true;
}

}  // namespace sluice
