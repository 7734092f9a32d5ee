#include "sim/scenario/workload_trace_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse.h"

namespace sluice {
namespace {

constexpr double kMinTimeScale = 1e-6, kMaxTimeScale = 1e6;

WorkloadOptions read_options(Fields& fields) {
  WorkloadOptions options;
  const auto read = [&](const char* key, std::optional<std::string>& option) {
    if (fields.has(key)) option = fields.text(key);
  };
  read("reader", options.reader);
  read("time_unit", options.time_unit);
  read("time_column", options.time_column);
  read("input_column", options.input_column);
  read("output_column", options.output_column);
  if (fields.has("block_tokens"))
    options.block_tokens = fields.integer("block_tokens", 1, kMaxRequestTokens);
  return options;
}

void read_trace_arrivals(Fields& fields, bool says_arrivals, const WorkloadSummary& summary,
                         WorkloadSetting& w) {
  if (says_arrivals) {
    for (const char* key : {"time_scale", "debunch"}) {
      if (!fields.has(key)) continue;
      fields.errors().add(fields.node(key, false),
                          fmt::format("{}: arrivals are not the trace's", fields.path_of(key)),
                          "leave it out, or write `arrivals: trace`");
    }
    return;
  }
  const TraceArrivals arrivals{
      .time_scale = fields.number("time_scale", kMinTimeScale, kMaxTimeScale, 1.0),
      .debunch = fields.duration("debunch", Duration::zero())};
  w.arrivals = arrivals;
  const YAML::Node at = fields.node("trace", false);
  if (!summary.duration) {
    return fields.errors().add(at,
                               fmt::format("{}: the file has no arrivals", fields.path_of("trace")),
                               "say how loads arrive, as in `arrivals: {poisson_mean_gap: 2s}`");
  }
  const double length_s =
      (to_seconds(*summary.duration) + to_seconds(arrivals.debunch)) * arrivals.time_scale;
  if (length_s <= to_seconds(kMaxTraceLength)) return;
  fields.errors().add(at,
                      fmt::format("{}: would last more than ten years", fields.path_of("trace")),
                      "use a smaller time_scale or debunch");
}

bool is_whole(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

// `random`, the number of a request, or a time in the trace.
std::optional<std::int64_t> read_start(Fields& fields, const WorkloadSource& source) {
  const std::string text = fields.text("start", "random");
  if (text == "random") return std::nullopt;
  if (is_whole(text)) return fields.integer("start", 0, source.summary().num_requests - 1, 0);
  const Duration time = fields.duration("start", Duration::zero());
  if (fields.errors().any()) return std::nullopt;
  if (!source.summary().duration) {
    fields.errors().add(fields.node("start", false),
                        fmt::format("{}: the file has no times", fields.path_of("start")),
                        "give the number of a request, or `random`");
    return std::nullopt;
  }
  const Result<std::int64_t> index = source.index_at(time);
  if (index) return *index;
  fields.errors().add_elsewhere(index.error());
  return std::nullopt;
}

void check_length(Fields& fields, const ReplayedContexts& replayed, std::int64_t loads) {
  const std::int64_t num_requests = replayed.source.summary().num_requests;
  if (replayed.first.value_or(0) + loads <= num_requests) return;
  fields.errors().add(
      fields.node("loads", false),
      fmt::format("{}: {} from request {} on, but the trace has {} requests",
                  fields.path_of("loads"), loads, replayed.first.value_or(0), num_requests),
      "use fewer loads, or begin earlier");
}

}  // namespace

void read_workload_trace(Fields& fields, const std::filesystem::path& folder, bool says_arrivals,
                         WorkloadSetting& w) {
  const std::string file = fields.text("trace");
  const WorkloadOptions options = read_options(fields);
  if (fields.errors().any()) return;
  Result<WorkloadSource> source = WorkloadSource::open(folder / file, options);
  if (!source) return fields.errors().add_elsewhere(source.error());
  const WorkloadSummary& summary = source->summary();
  read_trace_arrivals(fields, says_arrivals, summary, w);
  w.context_tokens = {summary.input.min, summary.input.max};
  ReplayedContexts replayed{.source = *source, .first = read_start(fields, *source)};
  check_length(fields, replayed, w.loads);
  w.contexts = std::move(replayed);
}

}  // namespace sluice
