// FCC Measuring Broadband America, raw: curr_webget (page loads) and curr_httpgetmt (downloads, a
// row for each interval of a test), in bytes per second; a trace for each measuring unit and
// target. Surprise: hours lie between the tests of a unit and are left out, so the correlation from
// row to row is not that of a link. Some years' files have no header.
#include <fmt/format.h>

#include <algorithm>

#include "traces/date_time.h"
#include "traces/readers/csv_file.h"
#include "traces/readers/csv_header.h"
#include "traces/readers/numbers.h"
#include "traces/readers/reader.h"
#include "traces/readers/row_groups.h"
#include "traces/step_list.h"

namespace sluice {
namespace {

constexpr std::string_view kWebget =
    "unit_id,dtime,target,address,fetch_time,bytes_total,bytes_sec";
constexpr std::string_view kHttpget =
    "unit_id,dtime,target,address,fetch_time,bytes_total,bytes_sec,bytes_sec_interval,warmup_time,"
    "warmup_bytes,sequence,threads,successes,failures";
// With and without location_id; curr_webget has 27 columns.
constexpr std::size_t kHttpgetColumnsMin = 14, kHttpgetColumnsMax = 15;

std::string_view names_without_header(std::string_view first_line) {
  if (first_line.empty() || first_line.front() < '0' || first_line.front() > '9') return {};
  const auto num_columns =
      static_cast<std::size_t>(std::count(first_line.begin(), first_line.end(), ',')) + 1;
  const bool httpget = num_columns >= kHttpgetColumnsMin && num_columns <= kHttpgetColumnsMax;
  return httpget ? kHttpget : kWebget;
}

struct Columns {
  std::size_t unit = 0, date = 0, target = 0, fetch_time = 0;
  std::size_t rate = 0;       // of the interval where the file has intervals
  bool in_intervals = false;  // fetch_time then runs from the begin of the test
  std::optional<std::size_t> successes;
};

Result<Columns> find_columns(const CsvFile& file) {
  Columns columns;
  columns.in_intervals = file.find("bytes_sec_interval").has_value();
  const std::pair<std::string_view, std::size_t*> kWanted[] = {
      {"unit_id", &columns.unit},
      {"dtime", &columns.date},
      {"target", &columns.target},
      {"fetch_time", &columns.fetch_time},
      {columns.in_intervals ? "bytes_sec_interval" : "bytes_sec", &columns.rate}};
  for (const auto& [name, index] : kWanted) {
    const Result<std::size_t> column = file.column(name);
    if (!column) return column.error();
    *index = *column;
  }
  columns.successes = file.find("successes");
  return columns;
}

struct Unit {
  StepList list;
  LinkTrace trace;
  std::string date;  // of the test that the last row belongs to
  std::int64_t fetch_us = 0;
};
using Units = RowGroups<Unit>;

Status add_row(const CsvFile& row, const Columns& columns, Unit& unit) {
  const Result<DateTime> date = read_date_time(row[columns.date]);
  if (!date) return date.error();
  if (columns.successes && row[*columns.successes] == "0") {
    unit.trace.skip(1, "the measurement failed");
    return {};
  }
  const Result<std::int64_t> fetch_us = read_count(row[columns.fetch_time], "fetch_time");
  if (!fetch_us) return fetch_us.error();
  const bool same_test = columns.in_intervals && row[columns.date] == unit.date;
  const std::int64_t time_us = *fetch_us - (same_test ? unit.fetch_us : 0);
  unit.date = row[columns.date];
  unit.fetch_us = *fetch_us;
  if (time_us <= 0) {
    unit.trace.skip(1, "it lasted no time");
    return {};
  }
  if (time_us > kMaxTraceLength / std::chrono::microseconds{1})
    return error_in("", fmt::format("fetch_time: {} us are absurd", time_us), "check the columns");
  const Result<DataRate> rate = read_rate(row[columns.rate], kBytes);
  if (!rate) return rate.error();
  ++unit.trace.num_rows;
  return unit.list.add(std::chrono::microseconds{time_us}, {.rate = *rate});
}

// The traces of units with rows; what the others skipped is told by the first.
Result<std::vector<LinkTrace>> finish(Units& units, CsvFile& file,
                                      const std::filesystem::path& path) {
  std::vector<LinkTrace> traces;
  std::vector<std::string> keys;
  LinkTrace silent;
  for (const auto& unit : units.all()) {
    LinkTrace& trace = unit->state.trace;
    if (trace.num_rows == 0) {
      for (SkippedRows& rows : trace.skipped) silent.skip(rows.count, std::move(rows.reason));
      continue;
    }
    std::move(unit->state.list).move_to(trace);
    trace.kind = TraceKind::kAchievedThroughput;
    trace.unit = "B/s";
    trace.sha256 = unit->hash.hex();
    trace.notes.emplace_back("the time between measurements is left out");
    traces.push_back(std::move(trace));
    keys.push_back(unit->key);
  }
  if (traces.empty())
    return file.error_in_file("no measurement succeeded", "give a file with some");
  for (SkippedRows& rows : silent.skipped) traces.front().skip(rows.count, std::move(rows.reason));
  name_traces(traces, keys, path, file.sha256());
  return traces;
}

}  // namespace

Result<std::vector<LinkTrace>> read_fcc_mba(const std::filesystem::path& path, const ReadOptions&) {
  Result<CsvFile> file = CsvFile::open(path, names_without_header);
  if (!file) return file.error();
  const Result<Columns> columns = find_columns(*file);
  if (!columns) return columns.error();
  Units units;
  std::string key;
  while (true) {
    const Result<bool> row = file->next();
    if (!row) return row.error();
    if (!*row) break;
    key = (*file)[columns->unit];
    key += '/';
    key += (*file)[columns->target];
    const Result<Units::Group*> unit = units.at(key, file->line());
    if (!unit) return file->place(unit.error());
    if (Status added = add_row(*file, *columns, (*unit)->state); !added)
      return file->place(added.error());
  }
  if (units.all().empty()) return file->no_rows();
  return finish(units, *file, path);
}

}  // namespace sluice
