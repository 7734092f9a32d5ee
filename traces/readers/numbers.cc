#include "traces/readers/numbers.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <optional>

#include "traces/link_trace.h"
#include "traces/readers/line_reader.h"

namespace sluice {
namespace {

using detail::Wide;

constexpr std::array kRateUnits{
    NumberUnit{"bit/s", "bit/s", 1},
    kKilobits,
    kMegabits,
    kGigabits,
    kBytes,
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
    kSeconds,
    kMilliseconds,
    kMicroseconds,
    kNanoseconds,
    NumberUnit{"sec", "s", 1'000'000'000},
    NumberUnit{"seconds", "s", 1'000'000'000},
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

constexpr std::size_t kMaxShortDigits = 18;  // they fit in 64 bits
constexpr auto kPowersOfTen = [] {
  std::array<std::int64_t, kMaxShortDigits + 1> powers{};
  powers[0] = 1;
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

// The value of eight digits, first digit first; nullopt when one of the bytes is none. Pairs of
// digits, then of pairs, are joined in all lanes at once.
std::optional<std::uint64_t> eight_digits(const char* text) {
  static_assert(std::endian::native == std::endian::little, "the first digit is the lowest byte");
  std::uint64_t word = 0;
  std::memcpy(&word, text, sizeof(word));
  constexpr std::uint64_t kZeros = 0x3030303030303030, kHigh = 0xF0F0F0F0F0F0F0F0;
  const bool all_digits =
      (word & kHigh) == kZeros && ((word + 0x0606060606060606) & kHigh) == kZeros;
  if (!all_digits) return std::nullopt;
  word -= kZeros;
  word = (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FF;
  word = (word * 100 + (word >> 16)) & 0x0000FFFF0000FFFF;
  return (word * 10'000 + (word >> 32)) & 0xFFFFFFFF;
}

// Nearly all numbers in traces: at most 18 digits, one point, no sign, no exponent. nullopt when
// the text is not one of them.
std::optional<ScaledNumber> scale_short(std::string_view text, std::int64_t factor) {
  if (text.empty() || text.size() > kMaxShortDigits + 1) return std::nullopt;
  std::uint64_t digits = 0;  // has room for 19
  std::size_t num_places = 0, num_points = 0;
  bool by_eight = true;  // until less than eight digits stand before a point or the end
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (by_eight && text.size() - i >= 8) {
      if (const auto eight = eight_digits(text.data() + i)) {
        digits = digits * 100'000'000 + *eight;
        num_places += 8 * num_points;
        i += 7;
        continue;
      }
      by_eight = false;
    }
    const char c = text[i];
    if (is_digit(c)) {
      digits = digits * 10 + static_cast<unsigned char>(c - '0');
      num_places += num_points;
    } else if (c == '.' && num_points == 0) {
      num_points = 1;
      by_eight = true;
    } else {
      return std::nullopt;
    }
  }
  const std::size_t num_digits = text.size() - num_points;
  if (num_digits == 0 || num_digits > kMaxShortDigits) return std::nullopt;
  Wide value = Wide{digits} * factor;
  if (num_places > 0) {
    const std::int64_t divisor = kPowersOfTen[num_places];
    // Most units are finer than what is written in them, so that nothing is left to round.
    value =
        factor % divisor == 0 ? Wide{digits} * (factor / divisor) : (value + divisor / 2) / divisor;
  }
  if (value > detail::kInt64Max) return ScaledNumber{0, NumberFault::kTooLarge};
  return ScaledNumber{static_cast<std::int64_t>(value), NumberFault::kNone};
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
  if (const auto number = scale_short(text, factor)) return *number;
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
