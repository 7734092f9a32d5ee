#include "sim/ns3/tcp_socket.h"

#include <ns3/boolean.h>
#include <ns3/double.h>
#include <ns3/nstime.h>
#include <ns3/tcp-bbr.h>
#include <ns3/tcp-cubic.h>
#include <ns3/tcp-dctcp.h>
#include <ns3/tcp-linux-reno.h>
#include <ns3/tcp-prr-recovery.h>
#include <ns3/uinteger.h>

#include <algorithm>

#include "sim/ns3/friendly_cubic.h"

namespace sluice {
namespace {

// Linux's numbers (net/ipv4/tcp_input.c, include/net/tcp.h) where ns-3's defaults differ.
// TCP_RTO_MIN. In Linux it bounds the deviations' part: a timeout is the smoothed round trip and
// 200 ms at least. ns-3 has a floor for the whole ("MinRto") and one for this part
// ("ClockGranularity").
constexpr std::int64_t kMinRtoMs = 200;
constexpr std::int64_t kDelayedAckMs = 40;  // TCP_DELACK_MIN
constexpr std::int64_t kConnectTimeoutMs = 1000;
constexpr std::uint32_t kDataRetries = 15;  // tcp_retries2
constexpr double kSegmentLifeSeconds = 1;   // addresses are never used again, nothing to outlive
constexpr std::uint32_t kDelayedAckPackets = 2;

template <class Algorithm>
class Opened final : public Algorithm {
 public:
  void Init(ns3::Ptr<ns3::TcpSocketState> of) override {
    state = of;
    Algorithm::Init(of);
  }
  ns3::Ptr<ns3::TcpSocketState> state;
};

// BBR of ns-3 3.37 can take the bottleneck for one of 0 bit/s and then divides by its pacing rate.
class NonZeroBbr : public ns3::TcpBbr {
 public:
  void CongControl(ns3::Ptr<ns3::TcpSocketState> window,
                   const ns3::TcpRateOps::TcpRateConnection& connection,
                   const ns3::TcpRateOps::TcpRateSample& sample) override {
    ns3::TcpBbr::CongControl(window, connection, sample);
    const ns3::DataRate slowest(window->m_segmentSize * 8);  // a packet per second
    if (window->m_pacingRate.Get() < slowest) window->m_pacingRate = slowest;
  }
};

template <class Algorithm>
ns3::Ptr<ns3::TcpSocketState> set(ns3::TcpSocketBase& socket,
                                  ns3::Ptr<Opened<Algorithm>> algorithm) {
  socket.SetCongestionControlAlgorithm(algorithm);
  return algorithm->state;
}

ns3::TypeId type_of(CongestionControl congestion) {
  switch (congestion) {
    case CongestionControl::kBbr:
      return ns3::TcpBbr::GetTypeId();
    case CongestionControl::kDctcp:
      return ns3::TcpDctcp::GetTypeId();
    case CongestionControl::kLinuxReno:
      return ns3::TcpLinuxReno::GetTypeId();
    case CongestionControl::kCubic:
      break;
  }
  return ns3::TcpCubic::GetTypeId();
}

ns3::TimeValue milliseconds(std::int64_t n) {
  return ns3::TimeValue(ns3::MilliSeconds(static_cast<std::uint64_t>(n)));
}

ns3::UintegerValue bytes(DataSize size) {
  return ns3::UintegerValue(static_cast<std::uint64_t>(size.bytes()));
}

}  // namespace

ns3::Ptr<ns3::TcpSocketBase> make_tcp_socket(ns3::TcpL4Protocol& tcp,
                                             const TransportSpec& transport, DataSize segment) {
  const auto socket = ns3::DynamicCast<ns3::TcpSocketBase>(
      tcp.CreateSocket(type_of(transport.congestion), ns3::TcpPrrRecovery::GetTypeId()));
  const DataSize window = std::min(transport.max_window, kTcpWindowMax);
  socket->SetAttribute("SegmentSize", bytes(segment));
  socket->SetAttribute("RcvBufSize", bytes(window));
  socket->SetAttribute("SndBufSize", bytes(window + kUnsentMax + segment * 2));
  socket->SetAttribute(
      "InitialCwnd",
      ns3::UintegerValue(static_cast<std::uint64_t>(transport.initial_window_segments)));
  socket->SetAttribute("TcpNoDelay", ns3::BooleanValue(true));
  socket->SetAttribute("MinRto", milliseconds(kMinRtoMs));
  socket->SetAttribute("ClockGranularity", milliseconds(kMinRtoMs));
  socket->SetAttribute("DelAckTimeout", milliseconds(kDelayedAckMs));
  socket->SetAttribute("DelAckCount", ns3::UintegerValue(kDelayedAckPackets));
  socket->SetAttribute("ConnTimeout", milliseconds(kConnectTimeoutMs));
  socket->SetAttribute("DataRetries", ns3::UintegerValue(kDataRetries));
  socket->SetAttribute("MaxSegLifetime", ns3::DoubleValue(kSegmentLifeSeconds));
  socket->SetPacingStatus(transport.pacing);
  return socket;
}

ns3::Ptr<ns3::TcpSocketState> set_congestion_control(ns3::TcpSocketBase& socket,
                                                     const SenderSetting& setting) {
  switch (setting.congestion) {
    case CongestionControl::kBbr: {
      const auto bbr = ns3::CreateObject<Opened<NonZeroBbr>>();
      bbr->SetStream(setting.stream);
      return set(socket, bbr);
    }
    case CongestionControl::kDctcp:  // turns its socket's ECN on by itself
      return set(socket, ns3::CreateObject<Opened<ns3::TcpDctcp>>());
    case CongestionControl::kLinuxReno:
      return set(socket, ns3::CreateObject<Opened<ns3::TcpLinuxReno>>());
    case CongestionControl::kCubic:
      break;
  }
  const auto cubic = ns3::CreateObject<Opened<FriendlyCubic>>();
  cubic->SetAttribute("HyStart", ns3::BooleanValue(false));  // its own has faults
  const auto window = set(socket, cubic);
  if (setting.hystart) cubic->use_hystart(socket);
  return window;
}

void restart_window(ns3::TcpSocketState& window, std::int64_t timeouts) {
  const std::uint32_t initial = window.m_initialCWnd * window.m_segmentSize;
  const std::uint32_t before = window.m_cWnd;
  if (before <= initial || timeouts < 1) return;
  const std::uint32_t halved = timeouts < 32 ? before >> timeouts : 0;
  const std::uint32_t after = std::max(initial, halved);
  window.m_ssThresh = std::max<std::uint32_t>(window.m_ssThresh, before / 4 * 3);
  window.m_cWnd = after;
  window.m_cWndInfl = after;
}

}  // namespace sluice
