// Link-trace files to the canonical form.
// Where in the flow: step 1; the scenario runner and `sluice trace` call this and nothing deeper.
// Surprise: nothing is guessed. Where a file does not say its unit, or could be two formats, the
// error names the option that settles it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "traces/link_trace.h"

namespace sluice {

// Which interval the rate in a row belongs to.
enum class StampRule {
  kEnd,    // the time of a row ends its interval, which began at the row before (Pensieve's
           // simulator)
  kStart,  // the time of a row begins its interval, which lasts until the next row
};

// What the file does not say itself. An option that the reader has no use for is an error.
struct ReadOptions {
  std::optional<std::string> reader;  // id from the registry; else found by content and extension
  std::optional<std::string> unit;    // of the rates: "Mbit/s", "kbit/s", "B/s" ...
  std::optional<std::string> time_unit;    // of the times: "s", "ms", "us", "ns" ...
  std::optional<std::string> time_column;  // the header's name of the column
  std::optional<std::string> rate_column;  // where a row holds several rates: which one
  std::optional<StampRule> stamps;
  // One of several traces in the file, by its name behind FILE# or its number from 1 on.
  std::optional<std::string> trace;
  std::optional<TraceKind> kind;
};

// The traces of the file, in its order: at least one, and each passes check_trace().
// Every error is one line with file, line where there is one, and fix. Memory grows with the rate
// changes, not with the file. Only regular files are read.
[[nodiscard]] Result<std::vector<LinkTrace>> read_traces(const std::filesystem::path& path,
                                                         const ReadOptions& options = {});

// The reader that the file's first lines ask for, and why, for people.
struct Detection {
  std::string reader;
  std::string why;
};
// An error when none fits or more than one does.
[[nodiscard]] Result<Detection> detect_reader(const std::filesystem::path& path);

// "end" or "start"; "capacity" or "throughput".
[[nodiscard]] Result<StampRule> parse_stamp_rule(std::string_view text);
[[nodiscard]] Result<TraceKind> parse_trace_kind(std::string_view text);

// What people can choose from; `sluice trace list` prints it.
struct ReaderSummary {
  std::string id, summary;
  std::string unit;   // "fixed: ...", "default: ..." or "needed: ..."
  std::string kind;   // what the numbers are taken for
  std::string clock;  // "time" or "chunk"
};
[[nodiscard]] std::vector<ReaderSummary> list_readers();

}  // namespace sluice
