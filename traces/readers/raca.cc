// Irish 4G and 5G drive tests (Raca et al., MMSys 2018 and 2020), as G-NetTrack logs them: a CSV
// file with a row about once a second, bitrates in kbit/s, `-` for what is missing.
// Surprise: stamps are whole seconds, some doubled, some missing. The rows of one second share the
// time since the second before equally, in file order; a pause of the logger is left out.
#include <fmt/format.h>

#include <vector>

#include "traces/date_time.h"
#include "traces/readers/csv_file.h"
#include "traces/readers/numbers.h"
#include "traces/readers/rate_column.h"
#include "traces/readers/reader.h"
#include "traces/step_list.h"

namespace sluice {
namespace {

constexpr Duration kPeriod = std::chrono::seconds{1};
// The published logs miss up to two seconds in a row; from here on the logger did not run.
constexpr Duration kLongestInterval = std::chrono::seconds{10};
constexpr std::size_t kMaxRowsPerSecond = 1000;
constexpr std::string_view kMissing = "-";

// Rows with stamps of whole seconds.
class LoggedSeconds {
 public:
  [[nodiscard]] Status add(Duration stamp, const RowValues& row) {
    if (!rows_.empty() && stamp < stamp_)
      return error_in("", "the Timestamp goes back behind the row before", "cut the log in two");
    if (rows_.size() >= kMaxRowsPerSecond) {
      return error_in("", fmt::format("more than {} rows in one second", kMaxRowsPerSecond),
                      "check the Timestamp column");
    }
    if (!rows_.empty() && stamp != stamp_) {
      if (Status flushed = flush(); !flushed) return flushed;
      interval_ = stamp - stamp_;
    }
    stamp_ = stamp;
    rows_.push_back(row);
    return {};
  }
  [[nodiscard]] Status finish(LinkTrace& trace) && {
    if (Status flushed = flush(); !flushed) return flushed;
    std::move(list_).move_to(trace);
    if (num_pauses_ > 0) {
      trace.notes.push_back(fmt::format("{} pauses of the logger, {:.9g} s in all, are left out",
                                        num_pauses_, to_seconds(paused_)));
    }
    return {};
  }
  [[nodiscard]] bool empty() const { return rows_.empty(); }

 private:
  [[nodiscard]] Status flush() {
    if (interval_ > kLongestInterval) {
      ++num_pauses_;
      paused_ += interval_ - kPeriod;
      interval_ = kPeriod;
    }
    const auto count = static_cast<std::int64_t>(rows_.size());
    for (std::int64_t i = 0; i < count; ++i) {
      const Duration time = interval_ * (i + 1) / count - interval_ * i / count;
      if (Status added = list_.add(time, rows_[static_cast<std::size_t>(i)]); !added) return added;
    }
    rows_.clear();
    return {};
  }

  StepList list_;
  Duration stamp_{}, interval_ = kPeriod;  // the first second lasts a second
  std::vector<RowValues> rows_;            // of this second
  std::int64_t num_pauses_ = 0;
  Duration paused_{};
};

struct Columns {
  std::size_t stamp = 0, rate = 0;
  std::optional<std::size_t> ping;
};

Result<Columns> find_columns(const CsvFile& file, const ReadOptions& options) {
  constexpr std::string_view kDown = "DL_bitrate", kUp = "UL_bitrate";
  const Result<std::size_t> direction = direction_column(options.rate_column, kDown, kUp);
  if (!direction) return direction.error();
  const Result<std::size_t> stamp = file.column("Timestamp");
  if (!stamp) return stamp.error();
  const Result<std::size_t> rate = file.column(*direction == 0 ? kDown : kUp);
  if (!rate) return rate.error();
  return Columns{*stamp, *rate, file.find("PINGAVG")};
}

// The row's stamp and values; nullopt when it has no bitrate.
Result<std::optional<RowValues>> read_values(const CsvFile& row, const Columns& columns) {
  if (row[columns.rate] == kMissing) return std::optional<RowValues>{};
  const Result<DataRate> rate = read_rate(row[columns.rate], kKilobits);
  if (!rate) return rate.error();
  RowValues values{.rate = *rate};
  if (columns.ping && row[*columns.ping] != kMissing) {
    const Result<Duration> round_trip = read_time(row[*columns.ping], kMilliseconds);
    if (!round_trip) {
      return error_in("", "PINGAVG: " + round_trip.error().what, round_trip.error().fix);
    }
    if (*round_trip / 2 > kMaxTraceDelay) {
      return error_in("", fmt::format("PINGAVG: {} is absurd", to_text(*round_trip)),
                      "it is in ms");
    }
    values.delay = *round_trip / 2;
  }
  return std::optional(values);
}

}  // namespace

Result<std::vector<LinkTrace>> read_raca(const std::filesystem::path& path,
                                         const ReadOptions& options) {
  Result<CsvFile> file = CsvFile::open(path);
  if (!file) return file.error();
  const Result<Columns> columns = find_columns(*file, options);
  if (!columns) return columns.error();
  LoggedSeconds seconds;
  LinkTrace trace;
  while (true) {
    const Result<bool> row = file->next();
    if (!row) return row.error();
    if (!*row) break;
    const Result<DateTime> stamp = read_date_time((*file)[columns->stamp], kGNetTrackDateTime);
    if (!stamp) return file->place(stamp.error());
    const Result<std::optional<RowValues>> values = read_values(*file, *columns);
    if (!values) return file->place(values.error());
    if (!*values) {
      trace.skip(1, "no bitrate (`-`)");
      continue;
    }
    if (Status added = seconds.add(nanoseconds(stamp->ns), **values); !added)
      return file->place(added.error());
  }
  if (seconds.empty()) {
    return file->error_in_file("no row has a bitrate", "give a log of a transfer");
  }
  if (Status finished = std::move(seconds).finish(trace); !finished)
    return file->place(finished.error());
  trace.num_rows = file->num_rows() - trace.num_skipped;
  trace.kind = TraceKind::kAchievedThroughput;
  trace.unit = "kbit/s";
  trace.sha256 = file->sha256();
  return only(std::move(trace));
}

}  // namespace sluice
