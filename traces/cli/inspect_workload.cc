// What a workload file holds, as a table, CSV or JSON.
// Surprise: the file is read once from end to end and never held, so that ten million rows are
// fine.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/names.h"
#include "base/parse.h"
#include "traces/cli/commands.h"
#include "traces/workload/summary.h"

namespace sluice::trace_cli {
namespace {

using nlohmann::json;

std::optional<std::string> if_given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

json mean_or_null(const std::optional<TokenCounts>& counts, std::int64_t num_requests) {
  return counts ? json(counts->sum / static_cast<double>(num_requests)) : json(nullptr);
}

template <typename T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

json to_json(const WorkloadSummary& s) {
  json skipped = json::array();
  for (const SkippedRows& rows : s.skipped)
    skipped.push_back({{"count", rows.count}, {"reason", rows.reason}});
  return {{"reader", s.reader},
          {"requests", s.num_requests},
          {"duration_s", s.duration ? json(to_seconds(*s.duration)) : json(nullptr)},
          {"same_arrival", s.num_same_arrival},
          {"input_tokens_mean", s.input.sum / static_cast<double>(s.num_requests)},
          {"input_tokens_min", s.input.min},
          {"input_tokens_max", s.input.max},
          {"output_tokens_mean", mean_or_null(s.output, s.num_requests)},
          {"block_tokens", or_null(s.block_tokens)},
          {"blocks", s.num_blocks},
          {"block_reuse_fraction", or_null(s.block_reuse_fraction())},
          {"skipped", s.num_skipped()},
          {"skipped_rows", skipped},
          {"sha256", s.sha256}};
}

Table::Cell mean_cell(double sum, std::int64_t count) {
  const double mean = sum / static_cast<double>(count);
  return {fmt::format("{:.0f}", mean), fmt::format("{}", mean)};
}

Table to_table(const WorkloadSummary& s, const std::string& file) {
  constexpr std::size_t kShownDigits = 12;
  Table table;
  table.column("name", "trace", Align::kLeft).column("reader", "reader", Align::kLeft);
  table.column("requests", "requests").column("skipped", "skipped");
  table.column("duration_s", "duration").column("input_tokens_mean", "input");
  table.column("input_tokens_min", "min").column("input_tokens_max", "max");
  table.column("output_tokens_mean", "output").column("block_reuse_fraction", "block reuse");
  table.column("sha256", "sha256", Align::kLeft);
  const auto reuse = s.block_reuse_fraction();
  table.row({std::filesystem::path(file).filename().string(), s.reader,
             std::to_string(s.num_requests), std::to_string(s.num_skipped()),
             s.duration
                 ? Table::Cell(to_text(*s.duration), fmt::format("{}", to_seconds(*s.duration)))
                 : Table::Cell("-", ""),
             mean_cell(s.input.sum, s.num_requests), std::to_string(s.input.min),
             std::to_string(s.input.max),
             s.output ? mean_cell(s.output->sum, s.num_requests) : Table::Cell("-", ""),
             reuse ? Table::Cell(fmt::format("{:.1f} %", *reuse * 100), fmt::format("{}", *reuse))
                   : Table::Cell("-", ""),
             Table::Cell(s.sha256.substr(0, kShownDigits), s.sha256)});
  for (const SkippedRows& rows : s.skipped)
    table.note(fmt::format("{} rows skipped: {}", rows.count, rows.reason));
  return table;
}

}  // namespace

Result<WorkloadOptions> workload_options(const ReadArgs& args, const WorkloadArgs& more) {
  for (const auto& [option, text] :
       {std::pair{"--unit", &args.unit}, std::pair{"--rate-column", &args.rate_column},
        std::pair{"--stamps", &args.stamps}, std::pair{"--kind", &args.kind}}) {
    if (!text->empty()) return error_in(option, "a workload has no rates", "leave it out");
  }
  if (!args.trace.empty())
    return error_in("--trace", "a workload file holds one trace", "leave it out");
  WorkloadOptions options{.reader = if_given(args.reader),
                          .time_unit = if_given(args.time_unit),
                          .time_column = if_given(args.time_column),
                          .input_column = if_given(more.input_column),
                          .output_column = if_given(more.output_column),
                          .block_tokens = {}};
  if (more.block_tokens.empty()) return options;
  const Result<std::int64_t> tokens = parse_integer(more.block_tokens, "block-tokens");
  if (!tokens) return error_in("--block-tokens", tokens.error().what, tokens.error().fix);
  options.block_tokens = *tokens;
  return options;
}

Result<bool> is_workload(const ReadArgs& args, const WorkloadArgs& more) {
  if (args.reader.empty()) {
    const auto found = detect_workload(args.file);
    if (!found) return found.error();
    if (*found) {
      fmt::print(stderr, "note: {} is read as {}: {}\n", args.file, (*found)->reader,
                 (*found)->why);
      return true;
    }
  } else {
    std::vector<std::string> known;
    for (const ReaderSummary& reader : list_readers()) known.push_back(reader.id);
    const std::size_t num_of_links = known.size();
    for (const WorkloadReaderSummary& reader : list_workload_readers()) known.push_back(reader.id);
    const auto found = std::find(known.begin(), known.end(), args.reader);
    if (found == known.end()) {
      return error_in("--reader", fmt::format("unknown reader `{}`", args.reader),
                      suggest_name(args.reader, known));
    }
    if (static_cast<std::size_t>(found - known.begin()) >= num_of_links) return true;
  }
  for (const auto& [option, text] : {std::pair{"--input-column", &more.input_column},
                                     std::pair{"--output-column", &more.output_column},
                                     std::pair{"--block-tokens", &more.block_tokens}}) {
    if (!text->empty())
      return error_in(option, "the file is read as a link trace, which has no requests",
                      "leave it out, or name a reader of workloads with --reader");
  }
  return false;
}

Status inspect_workload(const ReadArgs& args, const WorkloadArgs& more, TableFormat format) {
  const Result<WorkloadOptions> options = workload_options(args, more);
  if (!options) return options.error();
  const Result<WorkloadSummary> summary = summarise_workload(args.file, *options);
  if (!summary) return summary.error();
  print_as(format, to_table(*summary, args.file), to_json(*summary), std::cout);
  return {};
}

}  // namespace sluice::trace_cli
