// Any CSV file with a header, one request per row: the columns of time and lengths and the unit of
// the times are asked for, never guessed; other columns are left alone.
// Surprise: a file without times is `--time-column none`, one without outputs `--output-column
// none`.
#include <fmt/format.h>

#include "traces/workload/columns.h"
#include "traces/workload/format.h"

namespace sluice {
namespace {

constexpr std::string_view kNone = "none";

class WorkloadCsv final : public WorkloadFormat {
 public:
  struct Columns {
    std::optional<std::size_t> time, output;
    std::size_t input = 0;
    NumberUnit unit{};
  };
  WorkloadCsv(CsvTable table, Columns columns) : table_(std::move(table)), columns_(columns) {}

  Status read(std::string_view line, WorkloadRows& rows) override {
    if (Status split = table_.split(line); !split) return split;
    WorkloadRequest request;
    if (columns_.time) {
      const Result<Duration> time =
          read_arrival(table_.field(*columns_.time), table_.name(*columns_.time), columns_.unit);
      if (!time) return time.error();
      request.arrival = *time;
    }
    const Result<std::int64_t> input =
        read_tokens(table_.field(columns_.input), table_.name(columns_.input));
    if (!input) return input.error();
    request.input_tokens = *input;
    if (columns_.output) {
      const Result<std::int64_t> output =
          read_tokens(table_.field(*columns_.output), table_.name(*columns_.output));
      if (!output) return output.error();
      request.output_tokens = *output;
    }
    rows.add(std::move(request));
    return {};
  }

 private:
  CsvTable table_;
  Columns columns_;
};

// The column that the option names; nullopt for "none", where that is allowed.
Result<std::optional<std::size_t>> wanted(const CsvTable& table, std::string_view option,
                                          const std::optional<std::string>& name, bool may_lack) {
  if (!name) {
    return error_in(std::string(option), "the reader workload-csv needs it",
                    fmt::format("name the column{}", may_lack ? ", or say `none`" : ""));
  }
  if (may_lack && *name == kNone) return std::optional<std::size_t>{};
  const Result<std::size_t> column = table.require(*name);
  if (!column) return column.error();
  return std::optional(*column);
}

}  // namespace

MadeFormat make_workload_csv(std::string_view header, const WorkloadOptions& options) {
  Result<CsvTable> table = CsvTable::with_header(header);
  if (!table) return table.error();
  WorkloadCsv::Columns columns;
  const auto time = wanted(*table, "--time-column", options.time_column, true);
  if (!time) return time.error();
  const auto input = wanted(*table, "--input-column", options.input_column, false);
  if (!input) return input.error();
  const auto output = wanted(*table, "--output-column", options.output_column, true);
  if (!output) return output.error();
  if (time->has_value() != options.time_unit.has_value()) {
    return *time
               ? error_in("--time-unit", "the reader workload-csv needs it", "say s, ms, us or ns")
               : error_in("--time-unit", "there is no time column", "leave it out");
  }
  if (*time) {
    const Result<NumberUnit> unit = time_unit_option(*options.time_unit);
    if (!unit) return unit.error();
    columns.unit = *unit;
  }
  columns.time = *time;
  columns.input = **input;
  columns.output = *output;
  if (columns.time == columns.input || columns.output == columns.input ||
      (columns.time && columns.time == columns.output)) {
    return error_in("--input-column", "one column is named for two things", "name three columns");
  }
  return std::unique_ptr<WorkloadFormat>(std::make_unique<WorkloadCsv>(std::move(*table), columns));
}

}  // namespace sluice
