// Comma-separated rows under a header of known names, and the numbers in them.
// Where in the flow: the workload formats with columns.
// Surprise: a column that the format does not know is an error: what it means for the others is
// anybody's guess.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "traces/readers/numbers.h"

namespace sluice {

class CsvTable {
 public:
  // Refuses a header with an unclosed quote or two columns of one name.
  [[nodiscard]] static Result<CsvTable> with_header(std::string_view line);

  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  // The error lists the columns that there are.
  [[nodiscard]] Result<std::size_t> require(std::string_view name) const;
  // Refuses columns of other names.
  [[nodiscard]] Status allow_only(std::span<const std::string_view> names) const;

  // Takes a row apart; its fields are good until the next one.
  [[nodiscard]] Status split(std::string_view line);
  [[nodiscard]] std::string_view field(std::size_t column) const { return fields_[column]; }
  [[nodiscard]] const std::string& name(std::size_t column) const { return names_[column]; }

 private:
  std::vector<std::string> names_;
  std::vector<std::string_view> fields_;
};

// Whether a header line has all these columns, in whatever order.
[[nodiscard]] bool has_columns(std::string_view line, std::span<const std::string_view> names);

// A whole number of tokens from zero to kMaxRequestTokens. `name` is the column or key.
[[nodiscard]] Result<std::int64_t> read_tokens(std::string_view text, std::string_view name);
// A time of `unit`; the error names the column or key.
[[nodiscard]] Result<Duration> read_arrival(std::string_view text, std::string_view name,
                                            const NumberUnit& unit);

}  // namespace sluice
