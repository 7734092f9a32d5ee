// How much a connection may have in flight: slow start (RFC 5681), then CUBIC (RFC 9438).
// Where in the flow: one per connection of the tiers with packets. Time is an argument; no clock
// inside. Surprise: after a loss it shrinks by 30 % and not by half, as CUBIC does.
#pragma once

#include <optional>

#include "base/units.h"

namespace sluice {

struct CongestionLimits {
  DataSize packet;   // payload of one, > 0: the unit of CUBIC's growth
  DataSize initial;  // window to begin with, and after a long silence
  DataSize max;
  // False: `initial` fills the path already, growth is CUBIC's from the first.
  bool slow_start = true;
};

class CongestionWindow {
 public:
  explicit CongestionWindow(const CongestionLimits& limits);
  [[nodiscard]] DataSize size() const;
  [[nodiscard]] bool in_slow_start() const { return !threshold_ || packets_ < *threshold_; }
  // `acked` payload arrived; call it only while the window was what limited the sender.
  void on_ack(Instant now, DataSize acked, Duration round_trip);
  // A loss: once per round trip, however many segments were lost.
  void on_loss();
  // All that was in flight is lost and nothing has been heard for long: begins anew, in slow start
  // up to where a loss would have put it (RFC 5681, section 3.1).
  void on_collapse();
  // After a long silence (RFC 5681, section 4.1).
  void on_silence();

 private:
  void grow_cubic(Instant now, double acked, Duration round_trip);

  CongestionLimits limits_;
  double packets_;                   // the window
  std::optional<double> threshold_;  // of slow start; absent before the first loss
  double packets_before_loss_ = 0;   // W_max
  double packets_reno_ = 0;          // W_est: what additive increase would have reached
  std::optional<Instant> epoch_;     // first acknowledgement since the last loss
  double plateau_s_ = 0;             // K: from the epoch until the window is W_max again
};

}  // namespace sluice
