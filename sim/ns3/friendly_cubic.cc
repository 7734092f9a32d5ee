#include "sim/ns3/friendly_cubic.h"

#include <ns3/packet.h>
#include <ns3/simulator.h>

#include <algorithm>

namespace sluice {
namespace {

constexpr double kBeta = 0.7;
constexpr double kAlpha = 3 * (1 - kBeta) / (1 + kBeta);  // RFC 9438, section 4.3

Instant now() {
  return at_ns(ns3::Simulator::Now().GetNanoSeconds());
}

}  // namespace

void FriendlyCubic::use_hystart(ns3::TcpSocketBase& socket) {
  hystart_.emplace(false);
  socket.TraceConnectWithoutContext("Tx", ns3::MakeCallback(&FriendlyCubic::on_departure, this));
  socket.TraceConnectWithoutContext("Rx", ns3::MakeCallback(&FriendlyCubic::on_arrival, this));
}

void FriendlyCubic::on_departure(ns3::Ptr<const ns3::Packet> packet, const ns3::TcpHeader& header,
                                 Socket /*of*/) {
  if (packet->GetSize() == 0 || is_path_found_) return;
  const ns3::SequenceNumber32 end = header.GetSequenceNumber() + packet->GetSize();
  if (departures_.empty() || departures_.back().end < end) {
    departures_.push_back({end, now(), false});
    return;
  }
  const auto first = std::lower_bound(departures_.begin(), departures_.end(), end,
                                      [](const Departure& departure, ns3::SequenceNumber32 until) {
                                        return departure.end < until;
                                      });
  first->is_copy = true;
}

void FriendlyCubic::on_arrival(ns3::Ptr<const ns3::Packet> /*packet*/, const ns3::TcpHeader& header,
                               Socket /*of*/) {
  sample_.reset();
  while (!departures_.empty() && departures_.front().end <= header.GetAckNumber()) {
    const Departure settled = departures_.front();
    departures_.pop_front();
    if (!settled.is_copy) sample_ = now() - settled.at;
  }
}

void FriendlyCubic::IncreaseWindow(ns3::Ptr<ns3::TcpSocketState> window,
                                   std::uint32_t segments_acked) {
  const bool is_slow_start = window->m_cWnd < window->m_ssThresh;
  const double before = window->m_cWnd.Get() / window->m_segmentSize;
  ns3::TcpCubic::IncreaseWindow(window, segments_acked);
  if (is_slow_start || !reno_) return;
  // One acknowledgement may stand for all that a filled gap held up: it counts as a window at most.
  const double acked = std::min<double>(segments_acked, before);
  *reno_ += (*reno_ < before_loss_ ? kAlpha : 1.0) * acked / before;
  const auto whole = static_cast<std::uint32_t>(*reno_) * window->m_segmentSize;
  if (whole > window->m_cWnd) window->m_cWnd = whole;
}

std::uint32_t FriendlyCubic::GetSsThresh(ns3::Ptr<const ns3::TcpSocketState> window,
                                         std::uint32_t bytes_in_flight) {
  before_loss_ = window->GetCwndInSegments();
  const std::uint32_t threshold = ns3::TcpCubic::GetSsThresh(window, bytes_in_flight);
  reno_ = threshold / window->m_segmentSize;
  return threshold;
}

void FriendlyCubic::PktsAcked(ns3::Ptr<ns3::TcpSocketState> window, std::uint32_t segments_acked,
                              const ns3::Time& round_trip) {
  ns3::TcpCubic::PktsAcked(window, segments_acked, round_trip);
  segments_acked_ += segments_acked;
  if (!hystart_ || !sample_ || is_path_found_ || window->m_cWnd >= window->m_ssThresh) return;
  const std::uint64_t in_flight = window->m_bytesInFlight.Get() / window->m_segmentSize;
  is_path_found_ = hystart_->ends_at({.now = now(),
                                      .round_trip = *sample_,
                                      .smoothed = *sample_,
                                      .num_packets = segments_acked,
                                      .acked_until = segments_acked_,
                                      .next_number = segments_acked_ + in_flight,
                                      .window = DataSize::bytes(window->m_cWnd.Get()),
                                      .window_packets = window->GetCwndInSegments()});
  if (is_path_found_) window->m_ssThresh = window->m_cWnd;
}

void FriendlyCubic::CongestionStateSet(ns3::Ptr<ns3::TcpSocketState> window,
                                       ns3::TcpSocketState::TcpCongState_t state) {
  ns3::TcpCubic::CongestionStateSet(window, state);
  if (state != ns3::TcpSocketState::CA_LOSS || !hystart_) return;
  hystart_->restart(now(), segments_acked_);
  is_path_found_ = false;
}

}  // namespace sluice
