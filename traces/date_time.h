// Calendar stamps to nanoseconds: "2023-11-16 18:17:03.9799600", "2024-05-10 00:00:00+00:00".
// Where in the flow: link and workload formats that say when by date.
// Surprise: the fraction may be missing or have up to nine digits, within one file.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace sluice {

struct DateTime {
  std::int64_t ns = 0;    // since 1970-01-01 00:00, in UTC when the stamp has a zone
  bool has_zone = false;  // "Z", "+hh:mm" or "-hh:mm" stands behind it
};

// What stands between year, month and day, before the hour, and between hour, minute and second.
struct DateTimeStyle {
  char date, middle, time;
};
inline constexpr DateTimeStyle kIsoDateTime{'-', ' ', ':'};        // or T in the middle
inline constexpr DateTimeStyle kGNetTrackDateTime{'.', '_', '.'};  // 2020.02.14_09.38.22

// Years 1970 to 2200. The error has no place.
[[nodiscard]] Result<DateTime> read_date_time(std::string_view text,
                                              DateTimeStyle style = kIsoDateTime);

}  // namespace sluice
