// ns-3's CUBIC with what RFC 9438 has and ns-3 3.37 lacks: the Reno-friendly region.
// Where in the flow: the congestion control of data senders in the tier `tcp`.
// Surprise: without it a flow that lost early crawls: CUBIC alone takes seconds to grow by ten
// packets, whatever the round trip.
#pragma once

#include <ns3/tcp-cubic.h>

#include <optional>

namespace sluice {

class FriendlyCubic : public ns3::TcpCubic {
 public:
  void IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> window, std::uint32_t segments_acked) override;
  std::uint32_t GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> window,
                            std::uint32_t bytes_in_flight) override;

 private:
  std::optional<double> reno_;  // W_est in segments: what Reno would have reached since the loss
  double before_loss_ = 0;      // cwnd_prior in segments
};

}  // namespace sluice
