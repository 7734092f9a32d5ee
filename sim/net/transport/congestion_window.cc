#include "sim/net/transport/congestion_window.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

constexpr double kBeta = 0.7;                             // RFC 9438, section 4.6
constexpr double kC = 0.4;                                // packets per second cubed, section 5
constexpr double kAlpha = 3 * (1 - kBeta) / (1 + kBeta);  // section 4.3
constexpr double kPacketsMin = 2;
// Linux's cubic grows by an acknowledged packet in 20 at least before its first loss.
constexpr double kGrowthUnknown = 1.0 / 20;

double in_packets(DataSize size, DataSize packet) {
  return static_cast<double>(size.bytes()) / static_cast<double>(packet.bytes());
}

}  // namespace

CongestionWindow::CongestionWindow(const CongestionLimits& limits)
    : limits_(limits), packets_(in_packets(limits.initial, limits.packet)) {
  if (!limits.slow_start) threshold_ = packets_before_loss_ = packets_;
}

DataSize CongestionWindow::size() const {
  const auto bytes =
      static_cast<std::int64_t>(packets_ * static_cast<double>(limits_.packet.bytes()));
  return std::min(limits_.max, DataSize::bytes(bytes));
}

void CongestionWindow::on_ack(Instant now, DataSize acked, Duration round_trip) {
  if (size() >= limits_.max) return;
  const double acked_packets = in_packets(acked, limits_.packet);
  if (in_slow_start()) {
    packets_ += acked_packets;
    if (threshold_) packets_ = std::min(packets_, std::max(*threshold_, packets_ - acked_packets));
  } else {
    grow_cubic(now, acked_packets, round_trip);
  }
}

void CongestionWindow::grow_cubic(Instant now, double acked, Duration round_trip) {
  if (!epoch_) {
    epoch_ = now;
    packets_reno_ = packets_;
    origin_ = std::max(packets_before_loss_, packets_);
    plateau_s_ = std::cbrt((origin_ - packets_) / kC);
  }
  const double since_s = to_seconds(now - *epoch_);
  const auto cubic = [&](double t) {
    const double from_plateau_s = t - plateau_s_;
    return kC * from_plateau_s * from_plateau_s * from_plateau_s + origin_;
  };
  packets_reno_ += (packets_reno_ < packets_before_loss_ ? kAlpha : 1.0) * acked / packets_;
  const double least = packets_ + (packets_before_loss_ > 0 ? 0 : kGrowthUnknown * acked);
  if (cubic(since_s) < packets_reno_) {
    packets_ = std::max(least, packets_reno_);
    return;
  }
  const double target =
      std::clamp(cubic(since_s + to_seconds(round_trip)), packets_, 1.5 * packets_);
  packets_ = std::max(least, packets_ + (target - packets_) / packets_ * acked);
}

void CongestionWindow::on_loss() {
  // Fast convergence (section 4.7): a window that was still growing back leaves room for others.
  packets_before_loss_ = packets_ < packets_before_loss_ ? packets_ * (1 + kBeta) / 2 : packets_;
  packets_ = std::max(kPacketsMin, packets_ * kBeta);
  threshold_ = packets_;
  epoch_.reset();
}

void CongestionWindow::on_collapse() {
  on_loss();
  packets_ = kPacketsMin;
  packets_before_loss_ = 0;
}

void CongestionWindow::on_silence(std::int64_t timeouts) {
  const double initial = in_packets(limits_.initial, limits_.packet);
  if (packets_ <= initial || timeouts < 1) return;
  if (threshold_) threshold_ = std::max(*threshold_, packets_ * 3 / 4);
  packets_ = std::max(
      initial, std::ldexp(packets_, -static_cast<int>(std::min<std::int64_t>(timeouts, 64))));
}

}  // namespace sluice
