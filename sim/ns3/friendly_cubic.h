// ns-3's CUBIC with what RFC 9438 has and ns-3 3.37 lacks, the Reno-friendly region, and with
// HyStart as Linux has it since 5.6 (../net/transport/hystart.h). Where in the flow: the congestion
// control of data senders in the tier `tcp`. Surprises: without the former a flow that lost early
// crawls: CUBIC alone takes seconds to grow by ten packets, whatever the round trip. HyStart of
// ns-3 3.37 waits for a train of a whole round trip instead of half of one, looks for it before it
// begins the next round, so that at round trips up to 2 ms two trains look like one and slow start
// ends at 20 packets, and is told the smoothed round trip in whole milliseconds; ours measures what
// the newest packet took.
#pragma once

#include <ns3/tcp-cubic.h>
#include <ns3/tcp-header.h>
#include <ns3/tcp-socket-base.h>

#include <deque>
#include <optional>

#include "sim/net/transport/hystart.h"

namespace sluice {

class FriendlyCubic : public ns3::TcpCubic {
 public:
  // `socket` is the one that this controls.
  void use_hystart(ns3::TcpSocketBase& socket);
  void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> window, std::uint32_t segments_acked) override;
  std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> window,
                            std::uint32_t bytes_in_flight) override;

  void PktsAcked(ns3::Ptr<ns3::TcpSocketState> window, std::uint32_t segments_acked,
                 const ns3::Time& round_trip) override;
  void CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> window,
                          ns3::TcpSocketState::TcpCongState_t state) override;

 private:
  struct Departure {
    ns3::SequenceNumber32 end;  // after its last byte
    Instant at;
    bool is_copy = false;  // of what was sent before: its answer tells nothing (Karn)
  };
  using Socket = ns3::Ptr<const ns3::TcpSocketBase>;
  void on_departure(ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader& header, Socket of);
  void on_arrival(ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader& header, Socket of);

  std::optional<double> reno_;  // W_est in segments: what Reno would have reached since the loss
  std::optional<HyStart> hystart_;
  bool is_path_found_ = false;
  std::deque<Departure> departures_;  // not acknowledged, while slow start looks for the path
  std::optional<Duration> sample_;    // of the newest packet that the last acknowledgement settled
  std::uint64_t segments_acked_ = 0;
  double before_loss_ = 0;  // cwnd_prior in segments
};

}  // namespace sluice
