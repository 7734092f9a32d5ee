// Numbers as the page prints them: one precision per quantity, the same as the terminal's table;
// absent is a dash.
#pragma once

#include <optional>
#include <string>

#include "analysis/score/score.h"
#include "base/units.h"

namespace sluice {

inline constexpr const char* kAbsent = "—";

[[nodiscard]] std::string percent_text(std::optional<double> fraction);  // "12.3 %", not broken
[[nodiscard]] std::string seconds_text(std::optional<Duration> time);    // "0.832", in seconds
[[nodiscard]] std::string quality_text(std::optional<double> quality);   // "0.9731"
[[nodiscard]] std::string megabytes_text(std::optional<double> bytes);   // "176.3", in MB
[[nodiscard]] std::string size_text(std::optional<DataSize> size);       // "1.245 GB"
[[nodiscard]] std::string p_text(double p);                              // "p < 0.001", "p = 0.021"
[[nodiscard]] std::string count_text(std::int64_t count);                // "1 200 000", thin spaces

// "[10.1, 14.8]", in percent.
[[nodiscard]] std::string interval_text(Interval interval);
// "12.3 % [10.1, 14.8]"; a dash without loads.
[[nodiscard]] std::string violation_text(const PolicyScore& policy);
// "1 point", "0.5 points".
[[nodiscard]] std::string points_text(double fraction);
// "−12.3 [−14.8, −10.1]", in points.
[[nodiscard]] std::string points_text(const PairScore& pair);

}  // namespace sluice
