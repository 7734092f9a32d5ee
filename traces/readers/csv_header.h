// Which columns of a CSV file hold time and rate, and in which unit.
// Where in the flow: the first line of the csv reader.
// Surprise: a unit is only believed where it stands: `rate_mbps`, `rate [Mbit/s]`, `rate (Mbit/s)`
// or an option.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "traces/read.h"
#include "traces/readers/numbers.h"

namespace sluice {

struct CsvColumns {
  std::size_t num_columns = 0;
  std::size_t time_index = 0, rate_index = 0;
  NumberUnit time_unit{}, rate_unit{};
  bool is_capacity = false;  // the rate column is called capacity
};

// Errors name the option that settles the matter; they have no place.
[[nodiscard]] Result<CsvColumns> read_csv_header(std::string_view line, const ReadOptions& options);

// The index of the column called exactly `wanted`. Errors name the columns; they have no place.
[[nodiscard]] Result<std::size_t> named_column(std::span<const std::string_view> names,
                                               std::string_view wanted);

// "`a`, `b` ...", for error texts.
[[nodiscard]] std::string listed(std::span<const std::string_view> names);

// Fields between commas, outer blanks and quotes removed; a comma inside quotes belongs to the
// field. False when a quote is not closed. The views point into `line`.
[[nodiscard]] bool split_csv(std::string_view line, std::vector<std::string_view>& fields);

}  // namespace sluice
