#include "base/parse.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

namespace sluice {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t factor;  // how many of the base unit one of these is
};

constexpr std::array<Unit, 4> kRateUnits{
    {{"bit/s", 1}, {"kbit/s", 1'000}, {"Mbit/s", 1'000'000}, {"Gbit/s", 1'000'000'000}}};
constexpr std::array<Unit, 9> kSizeUnits{{{"B", 1},
                                          {"kB", 1'000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000},
                                          {"TB", 1'000'000'000'000},
                                          {"KiB", 1LL << 10},
                                          {"MiB", 1LL << 20},
                                          {"GiB", 1LL << 30},
                                          {"TiB", 1LL << 40}}};
constexpr std::array<Unit, 6> kTimeUnits{{{"ns", 1},
                                          {"us", 1'000},
                                          {"ms", 1'000'000},
                                          {"s", 1'000'000'000},
                                          {"min", 60'000'000'000},
                                          {"h", 3'600'000'000'000}}};

std::string unit_list(std::span<const Unit> units) {
  std::string out;
  for (const Unit& u : units) out += (out.empty() ? "" : ", ") + std::string(u.name);
  return out;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// digits[.digits] as an exact integer multiple of 10^-places.
struct Decimal {
  detail::Wide digits = 0;
  int places = 0;
  std::string_view rest;
};

std::optional<Decimal> read_decimal(std::string_view text) {
  Decimal d;
  std::size_t i = 0;
  int num_digits = 0;
  bool seen_point = false;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && !seen_point) {
      seen_point = true;
    } else if (is_digit(c)) {
      if (++num_digits > 20) return std::nullopt;
      d.digits = d.digits * 10 + (c - '0');
      if (seen_point) ++d.places;
    } else {
      break;
    }
  }
  if (num_digits == 0) return std::nullopt;
  d.rest = text.substr(i);
  return d;
}

Result<std::int64_t> parse_with_unit(std::string_view text, std::string_view field,
                                     std::span<const Unit> units, std::string_view example) {
  const std::string wanted =
      fmt::format("write a number with one of the units {}, as in `{}`", unit_list(units), example);
  const std::optional<Decimal> number = read_decimal(text);
  if (!number) return error_in("", fmt::format("{}: `{}` is not a quantity", field, text), wanted);
  std::string_view name = number->rest;
  if (!name.empty() && name.front() == ' ') name.remove_prefix(1);
  if (name.empty()) return error_in("", fmt::format("{}: `{}` has no unit", field, text), wanted);
  for (const Unit& u : units) {
    if (u.name != name) continue;
    detail::Wide scale = 1;
    for (int i = 0; i < number->places; ++i) scale *= 10;
    const detail::Wide exact = number->digits * u.factor;
    if (exact % scale != 0) {
      return error_in("", fmt::format("{}: `{}` is finer than the smallest unit", field, text),
                      fmt::format("round it to a whole number of {}", units.front().name));
    }
    if (exact / scale > detail::kInt64Max) {
      return error_in("", fmt::format("{}: `{}` is too large", field, text), "use a smaller value");
    }
    return static_cast<std::int64_t>(exact / scale);
  }
  return error_in("", fmt::format("{}: `{}` has the unknown unit `{}`", field, text, name), wanted);
}

}  // namespace

Result<DataRate> parse_rate(std::string_view text, std::string_view field) {
  const Result<std::int64_t> n = parse_with_unit(text, field, kRateUnits, "25Mbit/s");
  if (!n) return n.error();
  return DataRate::bits_per_sec(*n);
}

Result<DataSize> parse_size(std::string_view text, std::string_view field) {
  const Result<std::int64_t> n = parse_with_unit(text, field, kSizeUnits, "64MiB");
  if (!n) return n.error();
  return DataSize::bytes(*n);
}

Result<Duration> parse_duration(std::string_view text, std::string_view field) {
  const Result<std::int64_t> n = parse_with_unit(text, field, kTimeUnits, "1.5s");
  if (!n) return n.error();
  return Duration{*n};
}

Result<std::int64_t> parse_integer(std::string_view text, std::string_view field) {
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size()) {
    return error_in("", fmt::format("{}: `{}` is not a whole number", field, text),
                    "write digits only, as in `42`");
  }
  return value;
}

Result<double> parse_number(std::string_view text, std::string_view field) {
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) {
    return error_in("", fmt::format("{}: `{}` is not a finite number", field, text),
                    "write a decimal number, as in `0.25`");
  }
  return value;
}

}  // namespace sluice
