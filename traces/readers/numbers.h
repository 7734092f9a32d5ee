// Decimal text to rates and times, by exact integer arithmetic; and the units such text can have.
// Where in the flow: readers with columns. base/parse.h reads quantities that carry their unit;
// here the unit stands once, in the header or an option, and the numbers are measurements: they
// round to the nearest bit/s or ns.
// Surprise: case counts, `MB/s` are bytes and `Mbit/s` bits; in names such as `rate_mbps` bps means
// bits.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace sluice {

struct NumberUnit {
  std::string_view name;   // as people write it
  std::string_view shown;  // as we write it
  std::int64_t factor;     // bit/s or nanoseconds in one
};

// Those of formats that leave no choice.
inline constexpr NumberUnit kKilobits{"kbit/s", "kbit/s", 1'000};
inline constexpr NumberUnit kMegabits{"Mbit/s", "Mbit/s", 1'000'000};
inline constexpr NumberUnit kGigabits{"Gbit/s", "Gbit/s", 1'000'000'000};
inline constexpr NumberUnit kBytes{"B/s", "B/s", 8};
inline constexpr NumberUnit kSeconds{"s", "s", 1'000'000'000};
inline constexpr NumberUnit kMilliseconds{"ms", "ms", 1'000'000};
inline constexpr NumberUnit kMicroseconds{"us", "us", 1'000};
inline constexpr NumberUnit kNanoseconds{"ns", "ns", 1};

[[nodiscard]] const NumberUnit* find_rate_unit(std::string_view name);  // nullptr when unknown
[[nodiscard]] const NumberUnit* find_time_unit(std::string_view name);

// The unit named by an option; the error lists the known ones.
[[nodiscard]] Result<NumberUnit> rate_unit_option(std::string_view name);
[[nodiscard]] Result<NumberUnit> time_unit_option(std::string_view name);

// A decimal number (digits, point, exponent; no thousands separators) of `unit`, not negative.
// Errors say what is wrong with the text and have no place; a rate above kMaxLinkRate is one.
[[nodiscard]] Result<DataRate> read_rate(std::string_view text, const NumberUnit& unit);
[[nodiscard]] Result<Duration> read_time(std::string_view text, const NumberUnit& unit);

// A whole number, digits only, below 10^15; `quantity` names it in the error.
[[nodiscard]] Result<std::int64_t> read_count(std::string_view text, std::string_view quantity);

// The rate that moves `size` (0 .. 10^15 B) in `time` (> 0), to the nearest bit/s; an error above
// kMaxLinkRate.
[[nodiscard]] Result<DataRate> rate_of(DataSize size, Duration time);

// text * factor, rounded half up; the reason as a value when it is no such number.
enum class NumberFault { kNone, kNotANumber, kNegative, kTooLarge };
struct ScaledNumber {
  std::int64_t value = 0;
  NumberFault fault = NumberFault::kNone;
};
[[nodiscard]] ScaledNumber scale_decimal(std::string_view text, std::int64_t factor);

// Times since 1970 from this number on are milliseconds (2001 and later), below it seconds (before
// the year 33658): what tells six-column logs apart.
inline constexpr std::int64_t kMsSince1970Min = 1'000'000'000'000;

// Digits only, as a whole number below 10^15; the reason otherwise.
[[nodiscard]] ScaledNumber read_whole(std::string_view text);

}  // namespace sluice
