// SparkTraces (HKUST, with Hairpin, NSDI 2024): time in s, bandwidth in Mbit/s, and in the files of
// cloud-gaming sessions a round trip with its unit ("32.0ms") and the share of packets lost.
// Surprise: a row holds from its time on, as in the simulations that they were published with; two
// columns alone look like Pensieve's, which end at their time, and are found as those.
#include <fmt/format.h>

#include <array>

#include "traces/readers/line_reader.h"
#include "traces/readers/numbers.h"
#include "traces/readers/reader.h"
#include "traces/readers/stamped_rows.h"
#include "traces/readers/text_columns.h"

namespace sluice {
namespace {

constexpr std::size_t kFewColumns = 2, kAllColumns = 4;
constexpr std::string_view kRttUnit = "ms";

Status read_path(std::string_view rtt, std::string_view loss, RowValues& row) {
  if (!rtt.ends_with(kRttUnit)) {
    return error_in("", fmt::format("the round trip `{}` has no unit", excerpt(rtt)),
                    "write it as in `32.0ms`");
  }
  rtt.remove_suffix(kRttUnit.size());
  const Result<Duration> round_trip = read_time(rtt, kMilliseconds);
  if (!round_trip)
    return error_in("", "round trip: " + round_trip.error().what, round_trip.error().fix);
  row.delay = *round_trip / 2;
  const ScaledNumber share = scale_decimal(loss, kAllLostPpm);
  if (share.fault != NumberFault::kNone || share.value > kAllLostPpm) {
    return error_in("", fmt::format("the loss `{}` is no share of the packets", excerpt(loss)),
                    "write a number from 0 to 1");
  }
  row.loss_ppm = share.value;
  return {};
}

// The file's first row says how many columns all have.
Status read_row(std::string_view line, std::size_t& num_columns, StampedRows& rows) {
  std::array<std::string_view, kAllColumns> fields;
  const std::size_t num_fields = split_columns(line, fields);
  if (num_columns == 0) num_columns = num_fields == kFewColumns ? kFewColumns : kAllColumns;
  if (num_fields == 0) return error_in("", "the line is empty", "delete it");
  if (num_fields != num_columns) {
    return error_in("", fmt::format("{} columns instead of {}", num_fields, num_columns),
                    "give time, bandwidth, round trip and loss, or the first two in every row");
  }
  const Result<Duration> time = read_time(fields[0], kSeconds);
  if (!time) return time.error();
  const Result<DataRate> rate = read_rate(fields[1], kMegabits);
  if (!rate) return rate.error();
  RowValues row{.rate = *rate};
  if (num_columns == kAllColumns) {
    if (Status read = read_path(fields[2], fields[3], row); !read) return read;
  }
  return rows.add(*time, row);
}

}  // namespace

Result<std::vector<LinkTrace>> read_spark(const std::filesystem::path& path,
                                          const ReadOptions& options) {
  Result<LineReader> lines = LineReader::open(path);
  if (!lines) return lines.error();
  StampedRows rows(options.stamps.value_or(StampRule::kStart));
  std::size_t num_columns = 0;
  while (true) {
    const auto line = lines->next();
    if (!line) return line.error();
    if (!*line) break;
    if (Status read = read_row(**line, num_columns, rows); !read)
      return lines->error_here(read.error());
  }
  if (lines->line_number() == 0) return lines->empty_file();
  LinkTrace trace;
  if (Status finished = std::move(rows).finish(trace); !finished)
    return lines->error_here(finished.error());
  trace.kind = TraceKind::kAchievedThroughput;
  trace.unit = "Mbit/s";
  trace.sha256 = lines->sha256();
  return only(std::move(trace));
}

}  // namespace sluice
