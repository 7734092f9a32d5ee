#include "base/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace sluice {
namespace {

struct Prefix {
  double factor;
  const char* unit;
};

template <std::size_t N>
std::string scaled(double value, const std::array<Prefix, N>& prefixes) {
  for (const Prefix& p : prefixes) {
    if (std::abs(value) >= p.factor) return fmt::format("{:.4g} {}", value / p.factor, p.unit);
  }
  return fmt::format("{:.4g} {}", value / prefixes.back().factor, prefixes.back().unit);
}

}  // namespace

Duration seconds_to_duration(double seconds) {
  return nanoseconds_to_duration(seconds * 1e9);
}

Duration nanoseconds_to_duration(double ns) {
  const double rounded = std::round(ns);
  if (!(std::abs(rounded) < 9.2e18))
    throw std::overflow_error("time passes the range of a Duration");
  return Duration{static_cast<std::int64_t>(rounded)};
}

DataSize bits_to_size(double bits) {
  if (!(bits >= 0)) throw std::domain_error("a negative number of bits");
  const double bytes = std::ceil(bits / 8);
  if (!(bytes < 9.2e18)) throw std::overflow_error("bits pass the range of a DataSize");
  return DataSize::bytes(static_cast<std::int64_t>(bytes));
}

DataRate mean_rate(DataSize size, Duration time) {
  if (time <= Duration::zero())
    throw std::domain_error("mean rate over a time that is not positive");
  const detail::Wide bps = detail::Wide{size.bytes()} * 8 * detail::kNsPerSec / time.count();
  if (bps > detail::kInt64Max)
    throw std::overflow_error("mean rate passes the range of a DataRate");
  return DataRate::bits_per_sec(static_cast<std::int64_t>(bps));
}

std::string to_text(DataSize size) {
  static constexpr std::array<Prefix, 5> kPrefixes{
      {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}};
  return scaled(static_cast<double>(size.bytes()), kPrefixes);
}

std::string to_text(DataRate rate) {
  static constexpr std::array<Prefix, 4> kPrefixes{
      {{1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}, {1, "bit/s"}}};
  return scaled(static_cast<double>(rate.bits_per_sec()), kPrefixes);
}

std::string to_text(Duration time) {
  static constexpr std::array<Prefix, 4> kPrefixes{
      {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}}};
  return scaled(static_cast<double>(time.count()), kPrefixes);
}

}  // namespace sluice
