#include "traces/readers/sampled_runs.h"

#include <fmt/format.h>

#include "traces/readers/row_groups.h"
#include "traces/readers/stamped_rows.h"

namespace sluice {
namespace {

constexpr Duration kPeriod = std::chrono::seconds{1};

struct Run {
  StampedRows rows{StampRule::kStart};
  std::int64_t num_missing = 0;  // seconds
};
using Runs = RowGroups<Run>;

std::string join_key(const CsvFile& row, const std::vector<std::size_t>& columns,
                     std::string_view rate_column) {
  std::string key;
  for (const std::size_t column : columns) {
    if (!key.empty()) key += '/';
    key += row[column];
  }
  if (!rate_column.empty()) key += (key.empty() ? "" : "/") + std::string(rate_column);
  return key;
}

Status add_sample(Run& run, Duration second, DataRate rate) {
  if (run.rows.num_rows() > 0 && second > run.rows.last_time() + kPeriod)
    run.num_missing += (second - run.rows.last_time()) / kPeriod - 1;
  return run.rows.add(second, {.rate = rate});
}

Status read_row(const CsvFile& row, const SampledRuns& format, Runs& runs) {
  const Result<Duration> second = read_time(row[format.second_column], kSeconds);
  if (!second) return second.error();
  if (*second % kPeriod != Duration::zero() || *second > kMaxTraceLength) {
    return error_in(
        "", fmt::format("`{}` is no number of a second", excerpt(row[format.second_column])),
        "number the seconds of a run 0, 1, 2 ...");
  }
  for (const std::size_t column : format.rate_columns) {
    const Result<DataRate> rate = read_rate(row[column], format.rate_unit);
    if (!rate) return rate.error();
    const bool several = format.rate_columns.size() > 1;
    const Result<Runs::Group*> run = runs.at(
        join_key(row, format.key_columns, several ? row.names()[column] : std::string_view()),
        row.line());
    if (!run) return run.error();
    if (Status added = add_sample((*run)->state, *second, *rate); !added) return added;
  }
  return {};
}

Result<LinkTrace> finish(Runs::Group& group, const NumberUnit& unit) {
  LinkTrace trace;
  if (Status closed = group.state.rows.close(group.state.rows.last_time() + kPeriod); !closed)
    return closed.error();
  if (Status finished = std::move(group.state.rows).finish(trace); !finished)
    return finished.error();
  if (group.state.num_missing > 0) {
    trace.notes.push_back(
        fmt::format("missing seconds that take the rate before them: {}", group.state.num_missing));
  }
  trace.kind = TraceKind::kAchievedThroughput;
  trace.unit = unit.shown;
  trace.sha256 = group.hash.hex();
  return trace;
}

}  // namespace

Result<std::vector<LinkTrace>> read_sampled_runs(CsvFile& file, const SampledRuns& format,
                                                 const std::filesystem::path& path) {
  Runs runs;
  while (true) {
    const Result<bool> row = file.next();
    if (!row) return row.error();
    if (!*row) break;
    if (Status read = read_row(file, format, runs); !read) return file.place(read.error());
  }
  if (runs.all().empty()) return file.no_rows();
  std::vector<LinkTrace> traces;
  std::vector<std::string> keys;
  for (const auto& group : runs.all()) {
    Result<LinkTrace> trace = finish(*group, format.rate_unit);
    if (!trace) return file.place(trace.error());
    traces.push_back(std::move(*trace));
    keys.push_back(group->key);
  }
  name_traces(traces, keys, path, file.sha256());
  return traces;
}

}  // namespace sluice
