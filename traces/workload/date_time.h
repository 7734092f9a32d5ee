// Calendar stamps to nanoseconds: "2023-11-16 18:17:03.9799600", "2024-05-10 00:00:00+00:00".
// Where in the flow: workload formats that say when by date.
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

// Years 1970 to 2200. The error has no place.
[[nodiscard]] Result<DateTime> read_date_time(std::string_view text);

}  // namespace sluice
