// ns-3's TCP sockets, as a TransportSpec asks for them and otherwise as Linux sets them.
// Where in the flow: under the connections of the tier `tcp`; the only place that knows ns-3's
// attributes.
// Surprise: ns-3 hides a socket's window, so our congestion control is ns-3's with a handle to it.
#pragma once

#include <ns3/tcp-l4-protocol.h>
#include <ns3/tcp-socket-base.h>

#include "sim/net/network.h"
#include "sim/net/tcp_limits.h"

namespace sluice {

// A sender's socket takes more than it has sent, but no more than this: what a cancel cannot take
// back (as TCP_NOTSENT_LOWAT of Linux).
inline constexpr DataSize kUnsentMax = DataSize::bytes(128 << 10);

// A closed socket whose full packets carry `segment` of payload.
[[nodiscard]] ns3::Ptr<ns3::TcpSocketBase> make_tcp_socket(ns3::TcpL4Protocol& tcp,
                                                           const TransportSpec& transport,
                                                           DataSize segment);

struct SenderSetting {
  CongestionControl congestion = CongestionControl::kCubic;
  bool hystart = true;    // CUBIC's
  Duration round_trip{};  // of the path, without queueing
  std::uint32_t stream =
      0;  // of BBR's random numbers, so that a run does not depend on earlier ones
};

// Gives a sending socket its own congestion control, before its first data. Returns the handle to
// its window.
[[nodiscard]] ns3::Ptr<ns3::TcpSocketState> set_congestion_control(ns3::TcpSocketBase& socket,
                                                                   const SenderSetting& setting);

// After a silence of so many timeouts: halved by each down to the initial window, slow start up to
// 3/4 of what it was (as Linux; RFC 2861).
void restart_window(ns3::TcpSocketState& window, std::int64_t timeouts);

}  // namespace sluice
