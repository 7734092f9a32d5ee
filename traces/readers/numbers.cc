#include "traces/readers/numbers.h"

#include <fmt/format.h>

#include <array>

#include "traces/link_trace.h"
#include "traces/readers/line_reader.h"

namespace sluice {
namespace {

using detail::Wide;

constexpr std::array kRateUnits{
    NumberUnit{"bit/s", "bit/s", 1},
    NumberUnit{"kbit/s", "kbit/s", 1'000},
    NumberUnit{"Mbit/s", "Mbit/s", 1'000'000},
    NumberUnit{"Gbit/s", "Gbit/s", 1'000'000'000},
    NumberUnit{"B/s", "B/s", 8},
    NumberUnit{"kB/s", "kB/s", 8'000},
    NumberUnit{"MB/s", "MB/s", 8'000'000},
    NumberUnit{"GB/s", "GB/s", 8'000'000'000},
    NumberUnit{"bps", "bit/s", 1},
    NumberUnit{"kbps", "kbit/s", 1'000},
    NumberUnit{"mbps", "Mbit/s", 1'000'000},
    NumberUnit{"Mbps", "Mbit/s", 1'000'000},
    NumberUnit{"gbps", "Gbit/s", 1'000'000'000},
    NumberUnit{"Gbps", "Gbit/s", 1'000'000'000},
    NumberUnit{"bytes_per_sec", "B/s", 8},
};
constexpr std::array kTimeUnits{
    NumberUnit{"s", "s", 1'000'000'000},   NumberUnit{"ms", "ms", 1'000'000},
    NumberUnit{"us", "us", 1'000},         NumberUnit{"ns", "ns", 1},
    NumberUnit{"sec", "s", 1'000'000'000}, NumberUnit{"seconds", "s", 1'000'000'000},
};

// More digits than this are below what a bit/s or a ns can show; digits * factor stays below 2^127.
constexpr int kMaxDigits = 24;
constexpr int kMaxExponent = 20'000'000;  // more than a line has digits

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The number is digits * 10^exponent.
struct Decimal {
  Wide digits = 0;
  int exponent = 0;
  bool valid = false;
};

// [+-]digits after the e; sets `valid` to false when there are none.
int read_exponent(std::string_view text, bool& valid) {
  const bool negative = !text.empty() && text.front() == '-';
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  valid = !text.empty();
  int value = 0;
  for (const char c : text) {
    if (!is_digit(c)) valid = false;
    if (valid && value < kMaxExponent) value = value * 10 + (c - '0');
  }
  return negative ? -value : value;
}

Decimal read_decimal(std::string_view text) {
  Decimal d;
  int num_digits = 0;  // significant ones
  bool any = false, seen_point = false;
  std::size_t i = 0;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !seen_point) {
      seen_point = true;
      continue;
    }
    if (!is_digit(c)) break;
    any = true;
    if (num_digits < kMaxDigits) {
      d.digits = d.digits * 10 + (c - '0');
      if (d.digits != 0) ++num_digits;
      if (seen_point) --d.exponent;
    } else if (!seen_point) {
      ++d.exponent;
    }
  }
  d.valid = any;
  if (i == text.size() || !any) return d;
  if (text[i] != 'e' && text[i] != 'E') return Decimal{};
  d.exponent += read_exponent(text.substr(i + 1), d.valid);
  return d;
}

const NumberUnit* find_unit(std::span<const NumberUnit> units, std::string_view name) {
  for (const NumberUnit& unit : units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

Result<NumberUnit> unit_option(std::span<const NumberUnit> units, std::string_view name,
                               std::string_view option) {
  if (const NumberUnit* unit = find_unit(units, name)) return *unit;
  std::string known;
  for (const NumberUnit& unit : units) {
    if (unit.name == unit.shown) known += (known.empty() ? "" : ", ") + std::string(unit.name);
  }
  return error_in(std::string(option), fmt::format("unknown unit `{}`", excerpt(name)),
                  "known: " + known);
}

Error number_error(NumberFault fault, std::string_view text, std::string_view quantity,
                   const NumberUnit& unit) {
  const std::string seen = fmt::format("the {} `{}`", quantity, excerpt(text));
  switch (fault) {
    case NumberFault::kNegative:
      return error_in("", seen + " is negative", fmt::format("a {} is zero or more", quantity));
    case NumberFault::kTooLarge:
      return error_in("", fmt::format("{} is absurd in {}", seen, unit.shown), "check the unit");
    default:
      return error_in("", seen + " is not a finite number",
                      fmt::format("write a decimal number of {}, as in `0.25`", unit.shown));
  }
}

}  // namespace

const NumberUnit* find_rate_unit(std::string_view name) {
  return find_unit(kRateUnits, name);
}
const NumberUnit* find_time_unit(std::string_view name) {
  return find_unit(kTimeUnits, name);
}

Result<NumberUnit> rate_unit_option(std::string_view name) {
  return unit_option(kRateUnits, name, "--unit");
}
Result<NumberUnit> time_unit_option(std::string_view name) {
  return unit_option(kTimeUnits, name, "--time-unit");
}

ScaledNumber scale_decimal(std::string_view text, std::int64_t factor) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  const Decimal d = read_decimal(text);
  if (!d.valid) return {0, NumberFault::kNotANumber};
  if (negative && d.digits != 0) return {0, NumberFault::kNegative};
  Wide value = d.digits * factor;
  for (int e = d.exponent; e > 0 && value != 0; --e) {
    if (value > detail::kInt64Max) return {0, NumberFault::kTooLarge};
    value *= 10;
  }
  Wide divisor = 1;
  for (int e = d.exponent; e < 0; ++e) {
    if (divisor > 2 * value) return {0, NumberFault::kNone};  // less than half of one
    divisor *= 10;
  }
  value = (value + divisor / 2) / divisor;
  if (value > detail::kInt64Max) return {0, NumberFault::kTooLarge};
  return {static_cast<std::int64_t>(value), NumberFault::kNone};
}

ScaledNumber read_whole(std::string_view text) {
  constexpr std::size_t kMaxWholeDigits = 15;
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  if (text.empty()) return {0, NumberFault::kNotANumber};
  std::int64_t value = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!is_digit(text[i])) return {0, NumberFault::kNotANumber};
    if (i < kMaxWholeDigits) value = value * 10 + (text[i] - '0');
  }
  if (negative) return {0, NumberFault::kNegative};
  if (text.size() > kMaxWholeDigits) return {0, NumberFault::kTooLarge};
  return {value, NumberFault::kNone};
}

Result<DataRate> read_rate(std::string_view text, const NumberUnit& unit) {
  const ScaledNumber number = scale_decimal(text, unit.factor);
  if (number.fault != NumberFault::kNone) return number_error(number.fault, text, "rate", unit);
  const DataRate rate = DataRate::bits_per_sec(number.value);
  if (rate > kMaxLinkRate) return number_error(NumberFault::kTooLarge, text, "rate", unit);
  return rate;
}

Result<Duration> read_time(std::string_view text, const NumberUnit& unit) {
  const ScaledNumber number = scale_decimal(text, unit.factor);
  if (number.fault != NumberFault::kNone) return number_error(number.fault, text, "time", unit);
  return nanoseconds(number.value);
}

Result<std::int64_t> read_count(std::string_view text, std::string_view quantity) {
  const ScaledNumber number = read_whole(text);
  if (number.fault == NumberFault::kNone) return number.value;
  const std::string seen = fmt::format("the {} `{}`", quantity, excerpt(text));
  switch (number.fault) {
    case NumberFault::kNegative:
      return error_in("", seen + " is negative", fmt::format("a {} is zero or more", quantity));
    case NumberFault::kTooLarge:
      return error_in("", seen + " is absurd", "check the column");
    default:
      return error_in("", seen + " is not a whole number", "write digits only, as in `12`");
  }
}

Result<DataRate> rate_of(DataSize size, Duration time) {
  const Wide bits_ns = Wide{size.bits()} * detail::kNsPerSec;
  if (bits_ns > Wide{kMaxLinkRate.bits_per_sec()} * to_ns(time)) {
    return error_in("", fmt::format("{} bytes in {} are absurd", size.bytes(), to_text(time)),
                    "check the columns");
  }
  return DataRate::bits_per_sec(
      static_cast<std::int64_t>((2 * bits_ns + to_ns(time)) / (2 * Wide{to_ns(time)})));
}

}  // namespace sluice
