// Comma-separated values with a header, among them one column of times and one of rates with
// declared units. Our own form is one of these: `t_ns,capacity_bps` (or `t_ns,throughput_bps`, for
// achieved throughput), the last row an end time with an empty rate.
// Surprise: the rate of a row holds from its time on, unless --stamps end says otherwise.
#include <fmt/format.h>

#include "traces/readers/csv_header.h"
#include "traces/readers/line_reader.h"
#include "traces/readers/reader.h"
#include "traces/readers/stamped_rows.h"

namespace sluice {
namespace {

class RowReader {
 public:
  RowReader(CsvColumns columns, StampRule stamps)
      : columns_(columns), stamps_(stamps), rows_(stamps) {}

  [[nodiscard]] Status read(std::string_view line) {
    if (line.empty()) return error_in("", "the line is empty", "delete it");
    if (!split_csv(line, fields_))
      return error_in("", "a quote is not closed", "close it on the same line");
    if (fields_.size() != columns_.num_columns) {
      return error_in(
          "",
          fmt::format("{} columns, but the header has {}", fields_.size(), columns_.num_columns),
          "give each row one value per column");
    }
    const Result<Duration> time = read_time(fields_[columns_.time_index], columns_.time_unit);
    if (!time) return time.error();
    const std::string_view rate_text = fields_[columns_.rate_index];
    if (rows_.closed()) {
      return error_in("", "a row follows the one with the empty rate",
                      "only the last row, the end, has no rate");
    }
    if (rate_text.empty() && stamps_ == StampRule::kStart && rows_.num_rows() > 0)
      return rows_.close(*time);
    const Result<DataRate> rate = read_rate(rate_text, columns_.rate_unit);
    if (!rate) return rate.error();
    return rows_.add(*time, {.rate = *rate});
  }

  [[nodiscard]] std::int64_t num_rows() const { return rows_.num_rows(); }
  [[nodiscard]] Status finish(LinkTrace& trace) && { return std::move(rows_).finish(trace); }

 private:
  CsvColumns columns_;
  StampRule stamps_;
  StampedRows rows_;
  std::vector<std::string_view> fields_;
};

}  // namespace

Result<std::vector<LinkTrace>> read_csv(const std::filesystem::path& path,
                                        const ReadOptions& options) {
  Result<LineReader> opened = LineReader::open(path);
  if (!opened) return opened.error();
  LineReader& lines = *opened;
  const auto header = lines.next();
  if (!header) return header.error();
  if (!*header) return lines.empty_file();
  const Result<CsvColumns> columns = read_csv_header(**header, options);
  if (!columns) {
    // An error about an option keeps the option as its place.
    return columns.error().file.empty() ? lines.error_here(columns.error()) : columns.error();
  }
  RowReader rows(*columns, options.stamps.value_or(StampRule::kStart));
  while (true) {
    const auto line = lines.next();
    if (!line) return line.error();
    if (!*line) break;
    if (Status read = rows.read(**line); !read) return lines.error_here(read.error());
  }
  if (rows.num_rows() == 0)
    return lines.error_in_file("no row follows the header", "give a trace with at least one row");
  LinkTrace trace;
  if (Status finished = std::move(rows).finish(trace); !finished)
    return lines.error_here(finished.error());
  trace.kind = columns->is_capacity ? TraceKind::kCapacity : TraceKind::kAchievedThroughput;
  trace.unit = columns->rate_unit.shown;
  trace.sha256 = lines.sha256();
  return only(std::move(trace));
}

}  // namespace sluice
