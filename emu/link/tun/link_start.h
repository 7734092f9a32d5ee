// When the schedule of a link began: with the first packet of either direction.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>

#include "base/units.h"

namespace sluice {

class LinkStart {
 public:
  using Clock = std::chrono::steady_clock;

  // The instant of the schedule that it is now; a first packet that comes now begins it.
  [[nodiscard]] Instant instant_of_packet(Clock::time_point now) {
    const std::int64_t here = std::chrono::nanoseconds(now.time_since_epoch()).count();
    std::int64_t began = kNotYet;
    if (began_.compare_exchange_strong(began, here)) began = here;
    return after(began, here);
  }
  // The beginning before the first packet.
  [[nodiscard]] Instant instant(Clock::time_point now) const {
    const std::int64_t began = began_.load();
    const std::int64_t here = std::chrono::nanoseconds(now.time_since_epoch()).count();
    return began == kNotYet ? kRunStart : after(began, here);
  }
  [[nodiscard]] std::optional<Clock::time_point> began_at() const {
    const std::int64_t began = began_.load();
    if (began == kNotYet) return std::nullopt;
    return Clock::time_point(std::chrono::nanoseconds(began));
  }

 private:
  static constexpr std::int64_t kNotYet = -1;
  // The other direction may have read the clock a moment later.
  [[nodiscard]] static Instant after(std::int64_t began, std::int64_t here) {
    return at_ns(here > began ? here - began : 0);
  }

  std::atomic<std::int64_t> began_ = kNotYet;
};

}  // namespace sluice
