#include "traces/readers/interval_log.h"

#include <fmt/format.h>

#include <array>

#include "traces/readers/line_reader.h"
#include "traces/readers/numbers.h"
#include "traces/readers/reader.h"
#include "traces/readers/text_columns.h"
#include "traces/step_list.h"

namespace sluice {
namespace {

constexpr std::size_t kNumColumns = 6;
constexpr Duration kMillisecond = std::chrono::milliseconds{1};
constexpr std::string_view kRestarted = "the log began anew: its clock went back";
constexpr std::string_view kNoTime = "no time passed since the row before";

struct Row {
  std::int64_t clock_ms = 0;
  DataSize bytes;
  Duration time{};
};

Status check_epoch(std::int64_t epoch, EpochUnit unit) {
  const bool in_ms = epoch >= kMsSince1970Min;
  if (in_ms == (unit == EpochUnit::kMilliseconds)) return {};
  return error_in("",
                  fmt::format("the first column is in {} since 1970, as {} logs have it",
                              in_ms ? "ms" : "s", in_ms ? "ghent" : "hsdpa"),
                  fmt::format("read it with --reader {}", in_ms ? "ghent" : "hsdpa"));
}

Result<Row> read_row(std::string_view line, EpochUnit unit) {
  std::array<std::string_view, kNumColumns> fields;
  const std::size_t num_fields = split_columns(line, fields);
  if (num_fields == 0) return error_in("", "the line is empty", "delete it");
  if (num_fields != kNumColumns) {
    return error_in("", fmt::format("{} columns instead of six", num_fields),
                    "give epoch, clock, latitude, longitude, bytes and ms");
  }
  const Result<std::int64_t> epoch = read_count(fields[0], "epoch");
  if (!epoch) return epoch.error();
  if (Status fits = check_epoch(*epoch, unit); !fits) return fits.error();
  const Result<std::int64_t> clock = read_count(fields[1], "clock");
  if (!clock) return clock.error();
  const Result<std::int64_t> bytes = read_count(fields[4], "number of bytes");
  if (!bytes) return bytes.error();
  const Result<std::int64_t> ms = read_count(fields[5], "number of ms");
  if (!ms) return ms.error();
  if (*ms > kMaxTraceLength / kMillisecond)
    return error_in("", fmt::format("{} ms are more than ten years", *ms), "check the columns");
  return Row{*clock, DataSize::bytes(*bytes), *ms * kMillisecond};
}

Status add_row(const Row& row, StepList& list, LinkTrace& trace) {
  if (row.time == Duration::zero()) {
    trace.skip(1, std::string(kNoTime));
    return {};
  }
  const Result<DataRate> rate = rate_of(row.bytes, row.time);
  if (!rate) return rate.error();
  ++trace.num_rows;
  return list.add(row.time, {.rate = *rate});
}

}  // namespace

Result<std::vector<LinkTrace>> read_interval_log(const std::filesystem::path& path,
                                                 EpochUnit epoch_unit) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines) return lines.error();
  StepList list;
  LinkTrace trace;
  std::int64_t clock_ms = 0;
  bool restarted = false;
  while (true) {
    const auto line = lines->next();
    if (!line) return line.error();
    if (!*line) break;
    const Result<Row> row = read_row(**line, epoch_unit);
    if (!row) return lines->error_here(row.error());
    restarted = restarted || row->clock_ms < clock_ms;
    clock_ms = row->clock_ms;
    if (restarted) {
      trace.skip(1, std::string(kRestarted));
      continue;
    }
    if (Status added = add_row(*row, list, trace); !added) return lines->error_here(added.error());
  }
  if (lines->line_number() == 0) return lines->empty_file();
  if (trace.num_rows == 0)
    return lines->error_in_file("no row lasts any time",
                                "give a log with times in its last column");
  std::move(list).move_to(trace);
  trace.kind = TraceKind::kAchievedThroughput;
  trace.unit = "B per ms";
  trace.sha256 = lines->sha256();
  return only(std::move(trace));
}

}  // namespace sluice
