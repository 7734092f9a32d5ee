#include "sim/ns3/friendly_cubic.h"

#include <algorithm>

namespace sluice {
namespace {

constexpr double kBeta = 0.7;
constexpr double kAlpha = 3 * (1 - kBeta) / (1 + kBeta);  // RFC 9438, section 4.3

}  // namespace

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

}  // namespace sluice
