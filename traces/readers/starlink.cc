// Starlink on the Autobahn (Laniewski et al., IEEE OJ-COMS 2025): iperf3 on a moving car, a row per
// second with begin, end and Mbit/s of each direction.
// Surprise: time in which nothing was measured is left out of the trace: an outage is a row of 0.
#include <fmt/format.h>

#include "traces/date_time.h"
#include "traces/readers/csv_file.h"
#include "traces/readers/numbers.h"
#include "traces/readers/rate_column.h"
#include "traces/readers/reader.h"
#include "traces/step_list.h"

namespace sluice {
namespace {

struct Columns {
  std::size_t begin = 0, end = 0, rate = 0;
};

Result<Columns> find_columns(const CsvFile& file, const ReadOptions& options) {
  const Result<std::size_t> direction = direction_column(options.rate_column, "download", "upload");
  if (!direction) return direction.error();
  const bool down = *direction == 0;
  const Result<std::size_t> begin = file.column(down ? "timestamp_start_dl" : "timestamp_start_ul");
  if (!begin) return begin.error();
  const Result<std::size_t> end = file.column(down ? "timestamp_end_dl" : "timestamp_end_ul");
  if (!end) return end.error();
  const Result<std::size_t> rate = file.column(down ? "download" : "upload");
  if (!rate) return rate.error();
  return Columns{*begin, *end, *rate};
}

// Measurements one after the other, what lies between them left out.
class Measurements {
 public:
  [[nodiscard]] Status add(Duration begin, Duration end, DataRate rate) {
    if (end <= begin)
      return error_in("", "the measurement ends before it begins", "check its time stamps");
    if (begun_ && begin < last_end_) {
      return error_in("", "the measurement begins before the one before it ends",
                      "sort the rows by time");
    }
    if (begun_ && begin > last_end_) {
      ++num_gaps_;
      gaps_ += begin - last_end_;
    }
    begun_ = true;
    last_end_ = end;
    return list_.add(end - begin, {.rate = rate});
  }
  void move_to(LinkTrace& trace) && {
    std::move(list_).move_to(trace);
    if (num_gaps_ == 0) return;
    trace.notes.push_back(
        fmt::format("{} gaps without a measurement, {:.9g} s in all, are left out", num_gaps_,
                    to_seconds(gaps_)));
  }

 private:
  StepList list_;
  bool begun_ = false;
  Duration last_end_{};
  std::int64_t num_gaps_ = 0;
  Duration gaps_{};
};

Status read_row(const CsvFile& row, const Columns& columns, Measurements& measurements) {
  const Result<DateTime> begin = read_date_time(row[columns.begin]);
  if (!begin) return begin.error();
  const Result<DateTime> end = read_date_time(row[columns.end]);
  if (!end) return end.error();
  const Result<DataRate> rate = read_rate(row[columns.rate], kMegabits);
  if (!rate) return rate.error();
  return measurements.add(nanoseconds(begin->ns), nanoseconds(end->ns), *rate);
}

}  // namespace

Result<std::vector<LinkTrace>> read_starlink(const std::filesystem::path& path,
                                             const ReadOptions& options) {
  Result<CsvFile> file = CsvFile::open(path);
  if (!file) return file.error();
  const Result<Columns> columns = find_columns(*file, options);
  if (!columns) return columns.error();
  Measurements measurements;
  while (true) {
    const Result<bool> row = file->next();
    if (!row) return row.error();
    if (!*row) break;
    if (Status read = read_row(*file, *columns, measurements); !read)
      return file->place(read.error());
  }
  if (file->num_rows() == 0) return file->no_rows();
  LinkTrace trace;
  std::move(measurements).move_to(trace);
  trace.num_rows = file->num_rows();
  trace.kind = TraceKind::kAchievedThroughput;
  trace.unit = "Mbit/s";
  trace.sha256 = file->sha256();
  return only(std::move(trace));
}

}  // namespace sluice
