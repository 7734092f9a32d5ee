#include "analysis/report/numbers.h"

#include <fmt/format.h>

#include <cmath>

namespace sluice {
namespace {

double percent(double fraction) {
  return 100 * fraction;
}

// A true minus sign, as wide as a plus.
std::string signed_points(double fraction) {
  const std::string digits = fmt::format("{:.1f}", std::abs(percent(fraction)));
  if (digits == "0.0") return digits;
  return (fraction < 0 ? "−" : "+") + digits;
}

}  // namespace

std::string percent_text(std::optional<double> fraction) {
  return fraction ? fmt::format("{:.1f}\u00A0%", percent(*fraction)) : kAbsent;
}

std::string seconds_text(std::optional<Duration> time) {
  return time ? fmt::format("{:.3f}", to_seconds(*time)) : kAbsent;
}

std::string quality_text(std::optional<double> quality) {
  return quality ? fmt::format("{:.4f}", *quality) : kAbsent;
}

std::string megabytes_text(std::optional<double> bytes) {
  return bytes ? fmt::format("{:.1f}", DataSize::bytes(std::llround(*bytes)).megabytes()) : kAbsent;
}

std::string size_text(std::optional<DataSize> size) {
  return size ? to_text(*size) : kAbsent;
}

std::string p_text(double p) {
  return p < 0.001 ? "p < 0.001" : fmt::format("p = {:.3f}", p);
}

std::string count_text(std::int64_t count) {
  std::string digits = fmt::format("{}", count);
  if (digits.size() <= 4) return digits;
  for (std::size_t i = digits.size(); i > 3 && digits[i - 4] != '-';) {
    i -= 3;
    digits.insert(i, "\u202F");
  }
  return digits;
}

std::string interval_text(Interval interval) {
  return fmt::format("[{:.1f}, {:.1f}]", percent(interval.low), percent(interval.high));
}

std::string violation_text(const PolicyScore& policy) {
  if (!policy.violation_rate) return kAbsent;
  return percent_text(policy.violation_rate) + " " + interval_text(policy.violation_interval);
}

std::string points_text(double fraction) {
  const std::string number = fmt::format("{:g}", percent(fraction));
  return number + (number == "1" ? " point" : " points");
}

std::string points_text(const PairScore& pair) {
  return fmt::format("{} [{}, {}]", signed_points(pair.difference),
                     signed_points(pair.interval.low), signed_points(pair.interval.high));
}

}  // namespace sluice
