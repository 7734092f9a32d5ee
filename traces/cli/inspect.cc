// What a trace file holds, as a table, CSV or JSON.
// Surprise: of several traces in a file, the JSON summary is over all of them, one after the other,
// and each is under `traces`; figures are null where that would be longer than a trace may be.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "traces/cli/commands.h"
#include "traces/distribution.h"
#include "traces/readers/line_reader.h"

namespace sluice::trace_cli {
namespace {

using nlohmann::json;

bool timed(const LinkTrace& trace) {
  return trace.clock == TraceClock::kTime;
}

std::string kind_text(const LinkTrace& trace) {
  return trace.kind == TraceKind::kCapacity ? "capacity" : "achieved throughput";
}

json seconds_or_null(const LinkTrace& trace, Duration time) {
  return timed(trace) ? json(to_seconds(time)) : json(nullptr);
}

json skipped_json(const LinkTrace& trace) {
  json list = json::array();
  for (const SkippedRows& rows : trace.skipped)
    list.push_back({{"count", rows.count}, {"reason", rows.reason}});
  return list;
}

json delay_json(const LinkTrace& trace) {
  if (!trace.delay) return nullptr;
  const DelaySummary s = summarise(*trace.delay);
  return {
      {"mean_s", to_seconds(s.mean)}, {"min_s", to_seconds(s.min)}, {"max_s", to_seconds(s.max)}};
}

json loss_json(const LinkTrace& trace) {
  if (!trace.loss) return nullptr;
  const LossSummary s = summarise(*trace.loss);
  return {{"mean_ppm", s.mean_ppm}, {"max_ppm", s.max_ppm}};
}

json to_json(const LinkTrace& trace) {
  const TraceSummary s = summarise(trace);
  const RateDistribution distribution(trace);
  return {{"name", trace.name},
          {"reader", trace.reader},
          {"unit", trace.unit},
          {"kind", kind_text(trace)},
          {"clock", timed(trace) ? "time" : "chunk"},
          {"rows", trace.num_rows},
          {"skipped", trace.num_skipped},
          {"skipped_rows", skipped_json(trace)},
          {"notes", trace.notes},
          {"steps", trace.steps.size()},
          {"duration_s", seconds_or_null(trace, s.length)},
          {"mean_bps", s.mean.bits_per_sec()},
          {"min_bps", s.min.bits_per_sec()},
          {"max_bps", s.max.bits_per_sec()},
          {"cv", distribution.coefficient_of_variation()},
          {"p10_bps", distribution.quantile(0.1).bits_per_sec()},
          {"p50_bps", distribution.quantile(0.5).bits_per_sec()},
          {"p90_bps", distribution.quantile(0.9).bits_per_sec()},
          {"zero_steps", s.num_zero_steps},
          {"outage_s", seconds_or_null(trace, s.outage)},
          {"longest_outage_s", seconds_or_null(trace, s.longest_outage)},
          {"one_way_delay", delay_json(trace)},
          {"loss", loss_json(trace)},
          {"sha256", trace.sha256}};
}

// All traces of a file, one after the other, for the summary of their rates; nullopt when they are
// longer than a trace may be.
std::optional<LinkTrace> joined(const std::vector<LinkTrace>& traces) {
  LinkTrace all = traces.front();
  all.delay.reset();
  all.loss.reset();
  for (std::size_t i = 1; i < traces.size(); ++i) {
    if (traces[i].length > kMaxTraceLength - all.length) return std::nullopt;
    for (RateStep step : traces[i].steps) {
      step.start += all.length;  // zero when chunk-clocked
      all.steps.push_back(step);
    }
    all.length += traces[i].length;
  }
  return all;
}

// What is in the summary of a trace, as far as it can be said of all traces of a file.
json joined_json(const std::vector<LinkTrace>& traces, const std::string& file) {
  const std::optional<LinkTrace> all = joined(traces);
  json summary = to_json(all ? *all : traces.front());
  if (!all) {
    for (const char* figure :
         {"steps", "duration_s", "mean_bps", "min_bps", "max_bps", "cv", "p10_bps", "p50_bps",
          "p90_bps", "zero_steps", "outage_s", "longest_outage_s", "one_way_delay", "loss"})
      summary[figure] = nullptr;
  }
  LinkTrace counted;
  for (const LinkTrace& trace : traces) {
    counted.num_rows += trace.num_rows;
    for (const SkippedRows& rows : trace.skipped) counted.skip(rows.count, rows.reason);
    counted.notes.insert(counted.notes.end(), trace.notes.begin(), trace.notes.end());
  }
  if (!all)
    counted.notes.emplace_back("together the traces are longer than ten years: no figures of all");
  summary["name"] = std::filesystem::path(file).filename().string();
  summary["rows"] = counted.num_rows;
  summary["skipped"] = counted.num_skipped;
  summary["skipped_rows"] = skipped_json(counted);
  summary["notes"] = counted.notes;
  return summary;
}

Result<std::string> hash_file(const std::string& file) {
  Result<LineReader> lines = LineReader::open(file, kMaxJsonLineBytes);
  if (!lines) return lines.error();
  while (true) {
    const auto line = lines->next();
    if (!line) return line.error();
    if (!*line) return lines->sha256();
  }
}

Table::Cell rate_cell(DataRate rate) {
  return {to_text(rate), std::to_string(rate.bits_per_sec())};
}

Table::Cell time_cell(const LinkTrace& trace, Duration time) {
  if (!timed(trace)) return {"-", ""};
  return {time == Duration::zero() ? "0 s" : to_text(time), fmt::format("{}", to_seconds(time))};
}

Table::Cell delay_cell(const LinkTrace& trace) {
  if (!trace.delay) return {"-", ""};
  const Duration mean = summarise(*trace.delay).mean;
  return {to_text(mean), fmt::format("{}", to_seconds(mean))};
}

Table::Cell loss_cell(const LinkTrace& trace) {
  if (!trace.loss) return {"-", ""};
  const std::int64_t ppm = summarise(*trace.loss).mean_ppm;
  return {fmt::format("{:.3g} %", static_cast<double>(ppm) / 1e4), std::to_string(ppm)};
}

void add_row(Table& table, const LinkTrace& trace) {
  constexpr std::size_t kShownDigits = 12;
  const TraceSummary s = summarise(trace);
  table.row({trace.name, trace.reader, trace.unit, kind_text(trace), std::to_string(trace.num_rows),
             std::to_string(trace.num_skipped), time_cell(trace, s.length), rate_cell(s.mean),
             rate_cell(s.min), rate_cell(s.max), time_cell(trace, s.outage),
             time_cell(trace, s.longest_outage), delay_cell(trace), loss_cell(trace),
             Table::Cell(trace.sha256.substr(0, kShownDigits), trace.sha256)});
}

Table empty_table() {
  Table table;
  table.column("name", "trace", Align::kLeft).column("reader", "reader", Align::kLeft);
  table.column("unit", "unit", Align::kLeft).column("kind", "kind", Align::kLeft);
  table.column("rows", "rows").column("skipped", "skipped").column("duration_s", "duration");
  table.column("mean_bps", "mean").column("min_bps", "min").column("max_bps", "max");
  table.column("outage_s", "outage")
      .column("longest_outage_s", "longest")
      .column("mean_delay_s", "delay")
      .column("mean_loss_ppm", "loss")
      .column("sha256", "sha256", Align::kLeft);
  return table;
}

}  // namespace

Status inspect(const ReadArgs& args, TableFormat format) {
  const Result<TraceFile> file = read_and_tell(args);
  if (!file) return file.error();
  const std::vector<LinkTrace>& traces = file->traces;
  Table table = empty_table();
  for (const LinkTrace& trace : traces) add_row(table, trace);
  json summary;
  if (traces.size() == 1) {
    summary = to_json(traces.front());
  } else {
    summary = joined_json(traces, args.file);
    const Result<std::string> hash = hash_file(args.file);
    if (!hash) return hash.error();
    summary["sha256"] = *hash;
    summary["traces"] = json::array();
    for (const LinkTrace& trace : traces) summary["traces"].push_back(to_json(trace));
  }
  summary["reader_chosen"] = file->why;
  summary["warnings"] = json::array();
  for (const LinkTrace& trace : traces) {
    if (const auto doubt = doubt_about_unit(trace)) summary["warnings"].push_back(*doubt);
  }
  print_as(format, table, summary, std::cout);
  return {};
}

}  // namespace sluice::trace_cli
