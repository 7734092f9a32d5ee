#include "traces/workload/columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/readers/csv_header.h"
#include "traces/readers/line_reader.h"
#include "traces/workload/workload_trace.h"

namespace sluice {
namespace {

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMaxNames = 10;
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < kMaxNames; ++i) {
    out += fmt::format("{}`{}`", i ? ", " : "", excerpt(names[i]));
  }
  return out + (names.size() > kMaxNames ? " ..." : "");
}

Error unclosed_quote() {
  return error_in("", "a quote is not closed", "close it on the same line");
}

}  // namespace

Result<CsvTable> CsvTable::with_header(std::string_view line) {
  CsvTable table;
  if (!split_csv(line, table.fields_)) return unclosed_quote();
  for (const std::string_view name : table.fields_) {
    if (table.find(name)) {
      return error_in("", fmt::format("two columns are called `{}`", excerpt(name)),
                      "rename one of them");
    }
    table.names_.emplace_back(name);
  }
  table.fields_.clear();
  return table;
}

std::optional<std::size_t> CsvTable::find(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found == names_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names_.begin());
}

Result<std::size_t> CsvTable::require(std::string_view name) const {
  if (const auto column = find(name)) return *column;
  return error_in("", fmt::format("no column `{}`", excerpt(name)),
                  "the header has " + listed(names_));
}

Status CsvTable::allow_only(std::span<const std::string_view> names) const {
  for (const std::string& name : names_) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return error_in("", fmt::format("unknown column `{}`", excerpt(name)),
                    "drop it, or say what the columns mean with --reader workload-csv");
  }
  return {};
}

Status CsvTable::split(std::string_view line) {
  if (!split_csv(line, fields_)) return unclosed_quote();
  if (fields_.size() == names_.size()) return {};
  return error_in("",
                  fmt::format("{} columns, but the header has {}", fields_.size(), names_.size()),
                  "give each row one value per column");
}

bool has_columns(std::string_view line, std::span<const std::string_view> names) {
  std::vector<std::string_view> fields;
  if (!split_csv(line, fields)) return false;
  return std::all_of(names.begin(), names.end(), [&](std::string_view name) {
    return std::find(fields.begin(), fields.end(), name) != fields.end();
  });
}

Result<std::int64_t> read_tokens(std::string_view text, std::string_view name) {
  const ScaledNumber number = read_whole(text);
  const std::string seen = fmt::format("{} `{}`", name, excerpt(text));
  switch (number.fault) {
    case NumberFault::kNone:
      if (number.value <= kMaxRequestTokens) return number.value;
      [[fallthrough]];
    case NumberFault::kTooLarge:
      return error_in("", fmt::format("{} is more than {} tokens", seen, kMaxRequestTokens),
                      "check the column");
    case NumberFault::kNegative:
      return error_in("", seen + " is negative", "a number of tokens is zero or more");
    case NumberFault::kNotANumber:
      break;
  }
  return error_in("", seen + " is not a whole number", "write a number of tokens, as in `4096`");
}

Result<Duration> read_arrival(std::string_view text, std::string_view name,
                              const NumberUnit& unit) {
  Result<Duration> time = read_time(text, unit);
  if (time) return time;
  return error_in("", fmt::format("{}: {}", name, time.error().what), time.error().fix);
}

}  // namespace sluice
