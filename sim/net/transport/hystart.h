// HyStart (Ha and Rhee 2011) as Linux's CUBIC has it: ends slow start when the path looks full,
// before its queue overflows.
// Where in the flow: one per connection of the tiers with packets, asked at each acknowledgement
// during slow start. Time is an argument; no clock inside.
// Surprise: an acknowledgement of a burst counts as those of its packets, one for two, so that the
// tier `burst` sees what the tier `packet` does.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.h"

namespace sluice {

// From net/ipv4/tcp_cubic.c, which names them hystart_ack_delta, hystart_low_window and
// HYSTART_MIN_SAMPLES, HYSTART_DELAY_MIN and _MAX.
inline constexpr Duration kTrainGap = std::chrono::milliseconds{2};
inline constexpr std::int64_t kHyStartPackets = 16;  // smaller windows are left alone
inline constexpr std::int64_t kDelaySamples = 8;

// How much longer than the shortest round trip all samples of a round must be.
[[nodiscard]] constexpr Duration hystart_delay(Duration shortest) {
  constexpr Duration kMin = std::chrono::milliseconds{4}, kMax = std::chrono::milliseconds{16};
  return std::clamp(shortest / 8, kMin, kMax);
}

// What a train of acknowledgements without a gap may last. Half of the shortest round trip: that
// much data in flight one way, and as much in acknowledgements on the way back. More by what four
// super-segments of 64 KB take at the pace of slow start (two windows a round trip), but no more
// than a millisecond (hystart_ack_delay()). Paced, packets are themselves spread over half a round
// trip.
[[nodiscard]] constexpr Duration hystart_train(Duration shortest, Duration round_trip,
                                               DataSize window, bool is_paced) {
  constexpr Duration kSlackMax = std::chrono::milliseconds{1};
  constexpr double kFourSegments = 4.0 * (64 << 10);
  const double windows =
      kFourSegments / static_cast<double>(std::max<std::int64_t>(1, window.bytes()));
  const double slack_ns = std::min(static_cast<double>(to_ns(kSlackMax)),
                                   windows / 2 * static_cast<double>(to_ns(round_trip)));
  const Duration whole = shortest + nanoseconds(static_cast<std::int64_t>(slack_ns));
  return is_paced ? whole : whole / 2;
}

class HyStart {
 public:
  struct Ack {
    Instant now;
    Duration round_trip;            // of the newest copy that it names
    Duration smoothed;              // round trip
    std::int64_t num_packets = 0;   // that it settled
    std::uint64_t acked_until = 0;  // after the highest number acknowledged
    std::uint64_t next_number = 0;  // of the copy sent next
    DataSize window;
    std::int64_t window_packets = 0;
  };

  explicit HyStart(bool is_paced) : is_paced_(is_paced) {}
  // Whether slow start shall end at this acknowledgement.
  [[nodiscard]] bool ends_at(const Ack& ack) {
    shortest_ = std::min(shortest_, ack.round_trip);
    if (ack.acked_until > round_until_) begin_round(ack.now, ack.next_number);
    if (ack.window_packets < kHyStartPackets) return false;
    const std::int64_t num_acks = std::max<std::int64_t>(1, ack.num_packets / 2);
    return is_long_train(ack, num_acks) || is_late(ack.round_trip, num_acks);
  }
  // After a collapse of the window: it looks for the path anew.
  void restart(Instant now, std::uint64_t next_number) {
    shortest_ = Duration::max();
    begin_round(now, next_number);
  }

 private:
  void begin_round(Instant now, std::uint64_t next_number) {
    round_until_ = next_number;
    round_began_ = last_ack_ = now;
    least_ = Duration::max();
    num_samples_ = 0;
  }
  bool is_long_train(const Ack& ack, std::int64_t num_acks) {
    if (ack.now - last_ack_ > kTrainGap * num_acks) return false;
    last_ack_ = ack.now;
    return ack.now - round_began_ > hystart_train(shortest_, ack.smoothed, ack.window, is_paced_);
  }
  bool is_late(Duration round_trip, std::int64_t num_acks) {
    least_ = std::min(least_, round_trip);
    if (num_samples_ >= kDelaySamples) return least_ > shortest_ + hystart_delay(shortest_);
    num_samples_ += num_acks;
    return false;
  }

  bool is_paced_;
  Duration shortest_ = Duration::max(), least_ = Duration::max();  // ever, and of this round
  std::uint64_t round_until_ = 0;   // a round ends when more than these numbers are acknowledged
  Instant round_began_, last_ack_;  // the train's last one
  std::int64_t num_samples_ = 0;
};

}  // namespace sluice
