// How much a connection may have in flight: slow start (RFC 5681), then CUBIC (RFC 9438), where
// they leave a choice as Linux does (net/ipv4/tcp_cubic.c, tcp_input.c). Where in the flow: one per
// connection of the tiers with packets. Time is an argument; no clock inside. Surprises: after a
// loss it shrinks by 30 % and not by half, as CUBIC does; without any loss since slow start ended
// it grows by 5 % a round trip, since nothing tells where the path ends.
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
  bool hystart = true;  // slow start ends when the path looks full, and not only with a loss
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
  // The path looks full (HyStart): CUBIC from here.
  void leave_slow_start() { threshold_ = packets_; }
  // After a silence of so many retransmission timeouts: halved by each, but not below the initial
  // one, with slow start up to three quarters of what it was (RFC 2861, and Linux).
  void on_silence(std::int64_t timeouts);
  // Nothing was in flight for so long: no time that CUBIC grows in.
  void on_pause(Duration pause) {
    if (epoch_) *epoch_ += pause;
  }

 private:
  void grow_cubic(Instant now, double acked, Duration round_trip);

  CongestionLimits limits_;
  double packets_;                   // the window
  std::optional<double> threshold_;  // of slow start; absent before the path was found full
  double packets_before_loss_ = 0;   // W_max; 0: no loss yet, or begun anew
  double packets_reno_ = 0;          // W_est: what additive increase would have reached
  double origin_ = 0;                // of CUBIC's curve: its plateau
  std::optional<Instant> epoch_;     // first acknowledgement since the last loss or slow start
  double plateau_s_ = 0;             // K: from the epoch until the window is there
};

}  // namespace sluice
