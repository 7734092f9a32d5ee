// Text to quantities. A value carries its unit (`25Mbit/s`, `64MiB`, `1.5s`); a bare number is an
// error.
// Where in the flow: scenario files, command lines, trace headers.
// Surprise: case matters (`Mb` is not `MB`), and decimals are exact: "0.1Gbit/s" is 100000000
// bit/s, no rounding.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace sluice {

// `field` names the value in the error ("links[0].delay"). The error has no file or line: the
// caller adds them.
[[nodiscard]] Result<DataRate> parse_rate(std::string_view text, std::string_view field);
[[nodiscard]] Result<DataSize> parse_size(std::string_view text, std::string_view field);
[[nodiscard]] Result<Duration> parse_duration(std::string_view text, std::string_view field);
[[nodiscard]] Result<std::int64_t> parse_integer(std::string_view text, std::string_view field);
// A finite decimal number.
[[nodiscard]] Result<double> parse_number(std::string_view text, std::string_view field);

}  // namespace sluice
