// Quantities as types: instants, durations, sizes and rates, each with its unit in the name.
// Where in the flow: under everything; no other folder does arithmetic on raw seconds, bytes or
// bits.
// Surprise: k, M, G are powers of 1000 and Ki, Mi, Gi powers of 1024; size / rate rounds up to a
// whole ns.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

namespace sluice {

// The clock of one run: nanoseconds since the run began. Wall time never appears in it.
struct RunClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = std::chrono::duration<rep, period>;
  using time_point = std::chrono::time_point<RunClock>;
  static constexpr bool is_steady = true;
};

using Duration = RunClock::duration;   // int64 nanoseconds
using Instant = RunClock::time_point;  // int64 nanoseconds since the run began

inline constexpr Instant kRunStart{};

[[nodiscard]] constexpr Duration nanoseconds(std::int64_t n) {
  return Duration{n};
}
[[nodiscard]] constexpr std::int64_t to_ns(Duration d) {
  return d.count();
}
[[nodiscard]] constexpr std::int64_t to_ns(Instant t) {
  return t.time_since_epoch().count();
}
[[nodiscard]] constexpr double to_seconds(Duration d) {
  return static_cast<double>(d.count()) / 1e9;
}
[[nodiscard]] constexpr double to_seconds(Instant t) {
  return to_seconds(t.time_since_epoch());
}
[[nodiscard]] constexpr double to_ms(Duration d) {
  return static_cast<double>(d.count()) / 1e6;
}
[[nodiscard]] constexpr Instant at_ns(std::int64_t n) {
  return Instant{Duration{n}};
}

// Rounds to the nearest nanosecond. Throws std::overflow_error when the value does not fit.
[[nodiscard]] Duration seconds_to_duration(double seconds);
[[nodiscard]] Duration nanoseconds_to_duration(double ns);

// An amount of data, int64 bytes.
class DataSize {
 public:
  constexpr DataSize() = default;
  [[nodiscard]] static constexpr DataSize bytes(std::int64_t n) { return DataSize{n}; }
  [[nodiscard]] static constexpr DataSize zero() { return DataSize{0}; }
  [[nodiscard]] static constexpr DataSize max() {
    return DataSize{std::numeric_limits<std::int64_t>::max()};
  }
  [[nodiscard]] constexpr std::int64_t bytes() const { return bytes_; }
  [[nodiscard]] constexpr std::int64_t bits() const { return bytes_ * 8; }
  [[nodiscard]] constexpr double megabytes() const { return static_cast<double>(bytes_) / 1e6; }

  constexpr auto operator<=>(const DataSize&) const = default;
  constexpr DataSize operator+(DataSize o) const { return DataSize{bytes_ + o.bytes_}; }
  constexpr DataSize operator-(DataSize o) const { return DataSize{bytes_ - o.bytes_}; }
  constexpr DataSize operator*(std::int64_t k) const { return DataSize{bytes_ * k}; }
  constexpr DataSize& operator+=(DataSize o) {
    bytes_ += o.bytes_;
    return *this;
  }
  constexpr DataSize& operator-=(DataSize o) {
    bytes_ -= o.bytes_;
    return *this;
  }

 private:
  explicit constexpr DataSize(std::int64_t n) : bytes_(n) {}
  std::int64_t bytes_ = 0;
};

// A rate of data, int64 bits per second. Zero is an outage, never "unknown".
class DataRate {
 public:
  constexpr DataRate() = default;
  [[nodiscard]] static constexpr DataRate bits_per_sec(std::int64_t n) { return DataRate{n}; }
  [[nodiscard]] static constexpr DataRate zero() { return DataRate{0}; }
  [[nodiscard]] constexpr std::int64_t bits_per_sec() const { return bits_per_sec_; }
  [[nodiscard]] constexpr double megabits_per_sec() const {
    return static_cast<double>(bits_per_sec_) / 1e6;
  }
  constexpr auto operator<=>(const DataRate&) const = default;
  constexpr DataRate operator+(DataRate o) const {
    return DataRate{bits_per_sec_ + o.bits_per_sec_};
  }
  constexpr DataRate operator-(DataRate o) const {
    return DataRate{bits_per_sec_ - o.bits_per_sec_};
  }

 private:
  explicit constexpr DataRate(std::int64_t n) : bits_per_sec_(n) {}
  std::int64_t bits_per_sec_ = 0;
};

namespace detail {
__extension__ using Wide = __int128;  // bytes * 8e9 passes 2^63 at about 1.15 GB
inline constexpr Wide kNsPerSec = 1'000'000'000;
inline constexpr Wide kInt64Max = std::numeric_limits<std::int64_t>::max();
}  // namespace detail

// Time to send `size` at `rate`, rounded up to a whole nanosecond. The only place where this
// division is made. Throws std::domain_error when rate <= 0 or size < 0, std::overflow_error when
// the time passes 292 years.
[[nodiscard]] constexpr Duration operator/(DataSize size, DataRate rate) {
  if (rate <= DataRate::zero())
    throw std::domain_error("size / rate with a rate that is not positive");
  if (size < DataSize::zero()) throw std::domain_error("size / rate with a negative size");
  const detail::Wide bits_ns = detail::Wide{size.bytes()} * 8 * detail::kNsPerSec;
  const detail::Wide ns = (bits_ns + rate.bits_per_sec() - 1) / rate.bits_per_sec();
  if (ns > detail::kInt64Max)
    throw std::overflow_error("size / rate passes the range of a Duration");
  return Duration{static_cast<std::int64_t>(ns)};
}

// Whole bytes sent at `rate` during `time`, rounded down. Throws std::overflow_error past 2^63
// bytes.
[[nodiscard]] constexpr DataSize operator*(DataRate rate, Duration time) {
  const detail::Wide bytes =
      detail::Wide{rate.bits_per_sec()} * time.count() / (8 * detail::kNsPerSec);
  if (bytes > detail::kInt64Max)
    throw std::overflow_error("rate * time passes the range of a DataSize");
  return DataSize::bytes(static_cast<std::int64_t>(bytes));
}

// The exact sum of rate * time over many pieces; rounded once, when it is read.
class TransferSum {
 public:
  constexpr void add(DataRate rate, Duration time) { add(rate, time, 1); }
  // The same piece `times` times over.
  constexpr void add(DataRate rate, Duration time, std::int64_t times) {
    bits_ns_ += detail::Wide{rate.bits_per_sec()} * time.count() * times;
  }
  // Adds all of `other`, `times` times over.
  constexpr void add(const TransferSum& other, std::int64_t times) {
    bits_ns_ += other.bits_ns_ * times;
  }
  // Whole bytes, rounded down. Throws std::overflow_error past 2^63 bytes.
  [[nodiscard]] constexpr DataSize bytes() const {
    const detail::Wide bytes = bits_ns_ / (8 * detail::kNsPerSec);
    if (bytes > detail::kInt64Max)
      throw std::overflow_error("a sum passes the range of a DataSize");
    return DataSize::bytes(static_cast<std::int64_t>(bytes));
  }
  [[nodiscard]] constexpr bool reaches(DataSize size) const {
    return bits_ns_ >= detail::Wide{size.bytes()} * (8 * detail::kNsPerSec);
  }
  // The constant rate that moves as much in `time` (> 0), to the nearest bit/s.
  [[nodiscard]] constexpr DataRate mean_over(Duration time) const {
    if (time <= Duration::zero())
      throw std::domain_error("mean rate over a time that is not positive");
    const detail::Wide bps = (2 * bits_ns_ + time.count()) / (2 * detail::Wide{time.count()});
    if (bps > detail::kInt64Max) throw std::overflow_error("a mean passes the range of a DataRate");
    return DataRate::bits_per_sec(static_cast<std::int64_t>(bps));
  }

 private:
  detail::Wide bits_ns_ = 0;
};

// Mean rate of `size` moved in `time` (> 0), rounded down.
[[nodiscard]] DataRate mean_rate(DataSize size, Duration time);

// What one of `num_elements` takes of `size`, in bits; 0 when there is none.
[[nodiscard]] constexpr double bits_per_element(DataSize size, std::int64_t num_elements) {
  return num_elements == 0
             ? 0.0
             : static_cast<double>(size.bytes()) * 8.0 / static_cast<double>(num_elements);
}

// Whole bytes that hold `bits` (>= 0), rounded up. Throws std::overflow_error past 2^63 bytes,
// std::domain_error below 0.
[[nodiscard]] DataSize bits_to_size(double bits);

// For people: "1.245 GB", "176 MB", "3 Gbit/s", "1.5 s", "20 ms". At most four significant digits.
[[nodiscard]] std::string to_text(DataSize size);
[[nodiscard]] std::string to_text(DataRate rate);
[[nodiscard]] std::string to_text(Duration time);

}  // namespace sluice
