// The subcommands of `sluice trace`, one file each: what CLI11 fills, and what runs then.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/table.h"
#include "traces/generate.h"
#include "traces/read.h"
#include "traces/workload/workload_trace.h"

namespace sluice::trace_cli {

// Options of every command that reads a trace, as text; empty means not given.
struct ReadArgs {
  std::string file, reader, unit, time_unit, time_column, rate_column, stamps, kind, trace;
};
[[nodiscard]] Result<ReadOptions> to_options(const ReadArgs& args);

struct TraceFile {
  std::vector<LinkTrace> traces;
  std::string why;  // how the reader was found
};
// Reads, and says on stderr which reader was chosen, what was skipped and why, and what is
// doubtful.
[[nodiscard]] Result<TraceFile> read_and_tell(const ReadArgs& args);

[[nodiscard]] Status list(TableFormat format);
[[nodiscard]] Status inspect(const ReadArgs& args, TableFormat format);

// Options for workloads alone.
struct WorkloadArgs {
  std::string input_column, output_column, block_tokens;
};
// Whether a workload is asked for: by --reader, else by the file's first line.
[[nodiscard]] Result<bool> is_workload(const ReadArgs& args, const WorkloadArgs& more);
[[nodiscard]] Result<WorkloadOptions> workload_options(const ReadArgs& args,
                                                       const WorkloadArgs& more);
[[nodiscard]] Status inspect_workload(const ReadArgs& args, const WorkloadArgs& more,
                                      TableFormat format);

[[nodiscard]] Status convert(const ReadArgs& args, const std::string& out, const std::string& to);

// What a generator makes, from the command line.
struct GeneratorArgs {
  std::string command;             // for errors
  std::vector<std::string> words;  // GENERATOR key=value ...
  std::uint64_t seed = 1;
  std::uint64_t replicates = 1;
  std::string length;  // needed by time-clocked generators
};
struct GeneratedLinks {
  GeneratorSpec spec;
  std::vector<LinkTrace> traces;  // one per replicate
};
[[nodiscard]] Result<GeneratedLinks> generate_links(const GeneratorArgs& args);
[[nodiscard]] bool chunk_clocked(const GeneratorSpec& spec);

struct SynthArgs {
  std::vector<std::string> words;  // GENERATOR key=value ... OUT
  GeneratorArgs generator;
  std::string to;  // default: csv, or cachegen when chunk-clocked
};
[[nodiscard]] Status synth(const SynthArgs& args);

struct PlotArgs {
  std::vector<std::string> words;  // FILE ..., or GENERATOR key=value ...
  ReadArgs read;
  WorkloadArgs workload;
  GeneratorArgs generator;
  std::string rate_axis = "auto";
  std::string out;
};
[[nodiscard]] Status plot(const PlotArgs& args);

}  // namespace sluice::trace_cli
