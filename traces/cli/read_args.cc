#include <fmt/format.h>

#include "traces/cli/commands.h"

namespace sluice::trace_cli {
namespace {

std::optional<std::string> if_given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

// What was skipped and why, over all traces of the file, and what else the reader decided.
void tell_skipped(const std::vector<LinkTrace>& traces) {
  constexpr std::size_t kMaxNotes = 10;
  LinkTrace all;
  std::size_t num_notes = 0;
  for (const LinkTrace& trace : traces) {
    for (const SkippedRows& rows : trace.skipped) all.skip(rows.count, rows.reason);
    for (const std::string& note : trace.notes) {
      if (num_notes++ < kMaxNotes) fmt::print(stderr, "note: {}: {}\n", trace.name, note);
    }
  }
  if (num_notes > kMaxNotes) fmt::print(stderr, "note: {} notes more\n", num_notes - kMaxNotes);
  for (const SkippedRows& rows : all.skipped) {
    fmt::print(stderr, "note: {} {} skipped: {}\n", rows.count, rows.count == 1 ? "row" : "rows",
               rows.reason);
  }
}

}  // namespace

Result<ReadOptions> to_options(const ReadArgs& args) {
  ReadOptions options;
  options.reader = if_given(args.reader);
  options.unit = if_given(args.unit);
  options.time_unit = if_given(args.time_unit);
  options.time_column = if_given(args.time_column);
  options.rate_column = if_given(args.rate_column);
  options.trace = if_given(args.trace);
  if (!args.stamps.empty()) {
    const Result<StampRule> stamps = parse_stamp_rule(args.stamps);
    if (!stamps) return stamps.error();
    options.stamps = *stamps;
  }
  if (!args.kind.empty()) {
    const Result<TraceKind> kind = parse_trace_kind(args.kind);
    if (!kind) return kind.error();
    options.kind = *kind;
  }
  return options;
}

Result<TraceFile> read_and_tell(const ReadArgs& args) {
  Result<ReadOptions> options = to_options(args);
  if (!options) return options.error();
  TraceFile file;
  file.why = "named by --reader";
  if (!options->reader) {
    const Result<Detection> detection = detect_reader(args.file);
    if (!detection) return detection.error();
    options->reader = detection->reader;
    file.why = detection->why;
    fmt::print(stderr, "note: {} is read as {}: {}\n", args.file, detection->reader,
               detection->why);
  }
  Result<std::vector<LinkTrace>> traces = read_traces(args.file, *options);
  if (!traces) return traces.error();
  file.traces = std::move(*traces);
  if (file.traces.front().kind == TraceKind::kAchievedThroughput) {
    fmt::print(
        stderr,
        "note: the rates are achieved throughput; replayed as capacity they are biased low\n");
  }
  tell_skipped(file.traces);
  for (const LinkTrace& trace : file.traces) {
    if (const auto doubt = doubt_about_unit(trace)) fmt::print(stderr, "warning: {}\n", *doubt);
  }
  return file;
}

}  // namespace sluice::trace_cli
