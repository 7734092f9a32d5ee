// Smoothed round trip and its deviation (RFC 6298), and how long to wait for an acknowledgement
// (RFC 9002, 6.2.1, but no longer than the two round trips of RFC 8985, 7.2).
// Where in the flow: one per connection of the tiers with packets.
// Surprise: before the first sample it answers one second.
#pragma once

#include <algorithm>
#include <optional>

#include "base/units.h"

namespace sluice {

class RoundTripEstimate {
 public:
  void add(Duration sample) {
    latest_ = sample;
    if (!smoothed_) {
      smoothed_ = sample;
      deviation_ = sample / 2;
      return;
    }
    deviation_ += (std::chrono::abs(*smoothed_ - sample) - deviation_) / 4;
    *smoothed_ += (sample - *smoothed_) / 8;
  }
  [[nodiscard]] Duration smoothed() const { return smoothed_.value_or(kFirst); }
  // Zero before the first sample.
  [[nodiscard]] Duration known() const { return smoothed_.value_or(Duration::zero()); }
  [[nodiscard]] Duration probe_timeout() const {
    if (!smoothed_) return kFirst;
    return *smoothed_ + std::max(std::min<Duration>(4 * deviation_, *smoothed_), kGranularity);
  }
  // A segment older than this, when a later one was acknowledged, is lost (RFC 9002,
  // section 6.1.2).
  [[nodiscard]] Duration loss_age() const { return std::max(smoothed(), latest_) / 8 * 9; }

 private:
  static constexpr Duration kFirst = std::chrono::seconds{1};
  // Linux probes no sooner than two of its ticks (TCP_TIMEOUT_MIN; 4 ms each at 250 Hz). Less makes
  // connections that share a slow link in turns take their own turns for losses.
  static constexpr Duration kGranularity = std::chrono::milliseconds{8};
  std::optional<Duration> smoothed_;
  Duration deviation_{}, latest_{};
};

}  // namespace sluice
