// Exact amounts of data in motion: whole numbers of 1e-9 bit, which is what flows at 1 bit/s in 1
// ns.
// Where in the flow: under the network tiers, which integrate rates over time; everything else
// counts DataSize.
// Surprise: 128 bits wide, because one context of 10 GB is 8e19 of them; adding rates times times
// never rounds.
#pragma once

#include <compare>
#include <optional>

#include "base/units.h"

namespace sluice {

class Nanobits {
 public:
  constexpr Nanobits() = default;
  [[nodiscard]] static constexpr Nanobits of(DataSize size) {
    return Nanobits{detail::Wide{size.bytes()} * kPerByte};
  }
  // More than any amount.
  [[nodiscard]] static constexpr Nanobits max() { return Nanobits{~(detail::Wide{1} << 127)}; }
  // What passes at `rate` during `time`, exactly.
  [[nodiscard]] static constexpr Nanobits flown(DataRate rate, Duration time) {
    return Nanobits{detail::Wide{rate.bits_per_sec()} * time.count()};
  }
  // Rounded down.
  [[nodiscard]] constexpr DataSize whole_bytes() const {
    return DataSize::bytes(static_cast<std::int64_t>(value_ / kPerByte));
  }
  // Time to send this at `rate`, rounded up to a whole nanosecond, so that it has all gone by then.
  // nullopt when it takes longer than a century, for one because the rate is zero.
  [[nodiscard]] constexpr std::optional<Duration> time_at(DataRate rate) const {
    if (value_ <= 0) return Duration::zero();
    if (rate <= DataRate::zero()) return std::nullopt;
    const detail::Wide ns =
        value_ <= detail::kInt64Max
            ? detail::Wide{divide_up(static_cast<std::int64_t>(value_), rate.bits_per_sec())}
            : (value_ + rate.bits_per_sec() - 1) / rate.bits_per_sec();
    if (ns > kCenturyNs) return std::nullopt;
    return Duration{static_cast<std::int64_t>(ns)};
  }

  // By value, and found by the compiler before std::min and std::max, whose references keep 128-bit
  // numbers in memory.
  [[nodiscard]] friend constexpr Nanobits min(Nanobits a, Nanobits b) { return b < a ? b : a; }
  [[nodiscard]] friend constexpr Nanobits max(Nanobits a, Nanobits b) { return a < b ? b : a; }

  constexpr bool operator==(const Nanobits&) const = default;
  constexpr std::strong_ordering operator<=>(const Nanobits& o) const {
    return value_ < o.value_   ? std::strong_ordering::less
           : value_ > o.value_ ? std::strong_ordering::greater
                               : std::strong_ordering::equal;
  }
  constexpr Nanobits operator+(Nanobits o) const { return Nanobits{value_ + o.value_}; }
  constexpr Nanobits operator-(Nanobits o) const { return Nanobits{value_ - o.value_}; }
  constexpr Nanobits operator*(std::int64_t k) const { return Nanobits{value_ * k}; }
  // Rounded down.
  constexpr Nanobits operator/(std::int64_t k) const {
    if (value_ >= 0 && value_ <= detail::kInt64Max)
      return Nanobits{detail::Wide{static_cast<std::int64_t>(value_) / k}};
    return Nanobits{value_ / k};
  }
  constexpr Nanobits& operator+=(Nanobits o) {
    value_ += o.value_;
    return *this;
  }
  constexpr Nanobits& operator-=(Nanobits o) {
    value_ -= o.value_;
    return *this;
  }

 private:
  static constexpr detail::Wide kPerByte = 8 * detail::kNsPerSec;
  static constexpr detail::Wide kCenturyNs = detail::Wide{100} * 365 * 86'400 * detail::kNsPerSec;

  explicit constexpr Nanobits(detail::Wide value) : value_(value) {}
  // 64-bit division is several times faster than 128-bit, and most amounts fit.
  static constexpr std::int64_t divide_up(std::int64_t value, std::int64_t by) {
    return value / by + (value % by != 0 ? 1 : 0);
  }

  detail::Wide value_ = 0;
};

}  // namespace sluice
