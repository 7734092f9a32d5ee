#include "traces/readers/csv_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "traces/readers/line_reader.h"

namespace sluice {
namespace {

constexpr std::array<std::string_view, 5> kTimeStems{"time", "t", "timestamp", "elapsed",
                                                     "elapsed_time"};
constexpr std::array<std::string_view, 6> kRateStems{"rate", "link_rate",  "bandwidth",
                                                     "bw",   "throughput", "capacity"};

bool is_one_of(std::string_view stem, std::span<const std::string_view> stems) {
  std::string lower(stem);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  return std::find(stems.begin(), stems.end(), lower) != stems.end();
}

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// A header name taken apart: "rate [Mbit/s]", "rate (Mbit/s)" or "rate_mbps".
struct ColumnName {
  std::string_view whole, stem;
  std::string_view unit;  // empty when the name has none
  bool bracketed = false;
};

ColumnName take_apart(std::string_view whole) {
  const std::size_t open = whole.find_last_of("[(");
  if (open != std::string_view::npos && !whole.empty() &&
      (whole.back() == ']' || whole.back() == ')')) {
    return {whole, trim(whole.substr(0, open)),
            trim(whole.substr(open + 1, whole.size() - open - 2)), true};
  }
  constexpr std::string_view kLongSuffix = "_bytes_per_sec";
  const bool has_long = whole.size() > kLongSuffix.size() &&
                        whole.substr(whole.size() - kLongSuffix.size()) == kLongSuffix;
  const std::size_t cut = has_long ? whole.size() - kLongSuffix.size() : whole.rfind('_');
  if (cut == std::string_view::npos) return {whole, whole, {}, false};
  const std::string_view suffix = whole.substr(cut + 1);
  if (find_rate_unit(suffix) == nullptr && find_time_unit(suffix) == nullptr)
    return {whole, whole, {}, false};
  return {whole, whole.substr(0, cut), suffix, false};
}

// What distinguishes the two columns we look for.
struct Role {
  std::string_view quantity;       // "time" or "rate"
  std::string_view column_option;  // how to name the column
  std::string_view unit_option;
  std::string_view unit_example;
  std::span<const std::string_view> stems;
  const NumberUnit* (*find_unit)(std::string_view);
  Result<NumberUnit> (*unit_from_option)(std::string_view);
  bool unit_is_enough;  // a name with such a unit is a candidate whatever its stem
};

const Role kTimeRole{"time",     "--time-column", "--time-unit",    "s",
                     kTimeStems, find_time_unit,  time_unit_option, false};
const Role kRateRole{"rate",     "--rate-column", "--unit",         "Mbit/s",
                     kRateStems, find_rate_unit,  rate_unit_option, true};

Result<std::size_t> find_column(const Role& role, const std::vector<std::string_view>& names,
                                const std::optional<std::string>& wanted) {
  if (wanted) return named_column(names, *wanted);
  std::vector<std::string_view> candidates;
  std::size_t index = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ColumnName name = take_apart(names[i]);
    const bool has_unit = role.find_unit(name.unit) != nullptr;
    if (!is_one_of(name.stem, role.stems) && !(role.unit_is_enough && has_unit)) continue;
    candidates.push_back(names[i]);
    index = i;
  }
  if (candidates.size() == 1) return index;
  if (candidates.empty()) {
    return error_in(
        "", fmt::format("no {} column in the header: {}", role.quantity, listed(names)),
        fmt::format("name it with {}, or give the file a header such as `time_s,rate_mbps`",
                    role.column_option));
  }
  return error_in("", fmt::format("several {} columns: {}", role.quantity, listed(candidates)),
                  fmt::format("choose one with {}", role.column_option));
}

Result<NumberUnit> find_unit(const Role& role, std::string_view column,
                             const std::optional<std::string>& declared) {
  const ColumnName name = take_apart(column);
  const NumberUnit* in_header = role.find_unit(name.unit);
  if (!declared) {
    if (in_header != nullptr) return *in_header;
    const std::string what = name.unit.empty()
                                 ? fmt::format("the {} column `{}` does not say its unit",
                                               role.quantity, excerpt(column))
                                 : fmt::format("the {} column has the unknown unit `{}`",
                                               role.quantity, excerpt(name.unit));
    return error_in("", what,
                    fmt::format("give {}, as in `{} {}`", role.unit_option, role.unit_option,
                                role.unit_example));
  }
  const Result<NumberUnit> option = role.unit_from_option(*declared);
  if (!option) return option.error();
  if (in_header != nullptr && in_header->factor != option->factor) {
    return error_in("",
                    fmt::format("the header says `{}` and {} says `{}`", name.unit,
                                role.unit_option, *declared),
                    "correct one of them");
  }
  return option;
}

bool split_quoted(std::string_view line, std::vector<std::string_view>& fields) {
  std::size_t begin = 0;
  bool quoted = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    if (i < line.size() && line[i] == '"') quoted = !quoted;
    if (i < line.size() && (line[i] != ',' || quoted)) continue;
    std::string_view field = trim(line.substr(begin, i - begin));
    if (field.size() >= 2 && field.front() == '"' && field.back() == '"')
      field = field.substr(1, field.size() - 2);
    fields.push_back(field);
    begin = i + 1;
  }
  return !quoted;
}

}  // namespace

std::string listed(std::span<const std::string_view> names) {
  constexpr std::size_t kMaxNames = 8;
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < kMaxNames; ++i) {
    out += fmt::format("{}`{}`", i ? ", " : "", excerpt(names[i]));
  }
  return out + (names.size() > kMaxNames ? " ..." : "");
}

Result<std::size_t> named_column(std::span<const std::string_view> names, std::string_view wanted) {
  const auto found = std::find(names.begin(), names.end(), wanted);
  if (found == names.end()) {
    return error_in("", fmt::format("no column `{}`", excerpt(wanted)),
                    "the header has " + listed(names));
  }
  if (std::find(found + 1, names.end(), wanted) != names.end()) {
    return error_in("", fmt::format("two columns are called `{}`", excerpt(wanted)),
                    "rename one of them");
  }
  return static_cast<std::size_t>(found - names.begin());
}

bool split_csv(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  if (line.find('"') != std::string_view::npos) return split_quoted(line, fields);
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return true;
    line.remove_prefix(comma + 1);
  }
}

Result<CsvColumns> read_csv_header(std::string_view line, const ReadOptions& options) {
  std::vector<std::string_view> names;
  if (!split_csv(line, names))
    return error_in("", "a quote is not closed", "close it on the same line");
  if (std::all_of(names.begin(), names.end(), [](std::string_view n) {
        return scale_decimal(n, 1).fault == NumberFault::kNone;
      })) {
    return error_in("", "the file has no header", "add a first line such as `time_s,rate_mbps`");
  }
  CsvColumns columns;
  columns.num_columns = names.size();
  const Result<std::size_t> time = find_column(kTimeRole, names, options.time_column);
  if (!time) return time.error();
  const Result<std::size_t> rate = find_column(kRateRole, names, options.rate_column);
  if (!rate) return rate.error();
  if (*time == *rate) {
    return error_in("",
                    fmt::format("`{}` is both the time and the rate column", excerpt(names[*time])),
                    "choose with --time-column and --rate-column");
  }
  const Result<NumberUnit> time_unit = find_unit(kTimeRole, names[*time], options.time_unit);
  if (!time_unit) return time_unit.error();
  const Result<NumberUnit> rate_unit = find_unit(kRateRole, names[*rate], options.unit);
  if (!rate_unit) return rate_unit.error();
  columns.time_index = *time;
  columns.rate_index = *rate;
  columns.time_unit = *time_unit;
  columns.rate_unit = *rate_unit;
  constexpr std::array<std::string_view, 1> kCapacity{"capacity"};
  columns.is_capacity = is_one_of(take_apart(names[*rate]).stem, kCapacity);
  return columns;
}

}  // namespace sluice
