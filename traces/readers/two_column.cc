// Two columns without a header, separated by tabs or spaces: time and rate (Pensieve's cooked
// traces, Lumos5G).
// Surprise: the rate of a row belongs to the interval that ENDS at its time, as in Pensieve's
// simulator; StampedRows has the rule for the first row.
#include <fmt/format.h>

#include <array>

#include "traces/readers/line_reader.h"
#include "traces/readers/numbers.h"
#include "traces/readers/reader.h"
#include "traces/readers/stamped_rows.h"
#include "traces/readers/text_columns.h"

namespace sluice {
namespace {

Status read_row(std::string_view line, const NumberUnit& time_unit, const NumberUnit& rate_unit,
                StampedRows& rows) {
  std::array<std::string_view, 2> columns;
  const std::size_t num_columns = split_columns(line, columns);
  if (num_columns == 0) return error_in("", "the line is empty", "delete it");
  if (num_columns != columns.size()) {
    return error_in("", fmt::format("{} columns instead of two", num_columns),
                    "give time and rate, separated by a tab or spaces");
  }
  const Result<Duration> time = read_time(columns[0], time_unit);
  if (!time) return time.error();
  const Result<DataRate> rate = read_rate(columns[1], rate_unit);
  if (!rate) return rate.error();
  return rows.add(*time, {.rate = *rate});
}

}  // namespace

Result<std::vector<LinkTrace>> read_two_column(const std::filesystem::path& path,
                                               const ReadOptions& options) {
  const Result<NumberUnit> rate_unit = rate_unit_option(options.unit.value_or("Mbit/s"));
  if (!rate_unit) return rate_unit.error();
  const Result<NumberUnit> time_unit = time_unit_option(options.time_unit.value_or("s"));
  if (!time_unit) return time_unit.error();
  Result<LineReader> opened = LineReader::open(path);
  if (!opened) return opened.error();
  LineReader& lines = *opened;
  StampedRows rows(options.stamps.value_or(StampRule::kEnd));
  while (true) {
    const auto line = lines.next();
    if (!line) return line.error();
    if (!*line) break;
    if (Status read = read_row(**line, *time_unit, *rate_unit, rows); !read) {
      return lines.error_here(read.error());
    }
  }
  if (rows.num_rows() == 0) return lines.empty_file();
  LinkTrace trace;
  if (Status finished = std::move(rows).finish(trace); !finished)
    return lines.error_here(finished.error());
  trace.kind = TraceKind::kAchievedThroughput;
  trace.unit = rate_unit->shown;
  trace.sha256 = lines.sha256();
  return only(std::move(trace));
}

}  // namespace sluice
