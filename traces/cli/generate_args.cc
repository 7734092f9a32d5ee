#include <fmt/format.h>

#include "base/parse.h"
#include "traces/cli/commands.h"

namespace sluice::trace_cli {
namespace {

constexpr std::uint64_t kMaxReplicates = 100'000;
constexpr std::size_t kMaxSteps = 10'000'000;  // in all: they are held in memory

Result<std::vector<ParameterText>> parameters_of(const GeneratorArgs& args) {
  std::vector<ParameterText> parameters;
  for (std::size_t i = 1; i < args.words.size(); ++i) {
    const std::string& word = args.words[i];
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      return error_in(args.command, fmt::format("`{}` is not a parameter", word),
                      "write GENERATOR key=value ...");
    }
    parameters.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return parameters;
}

// Errors of a generator's parameters have no place of their own.
Error at_command(Error error, const GeneratorArgs& args) {
  if (error.file.empty()) error.file = args.command;
  return error;
}

Result<Duration> length_of(const GeneratorArgs& args) {
  if (args.length.empty()) {
    return error_in("--length", fmt::format("{} needs it", args.words.front()),
                    "give one, as in `--length 60s`");
  }
  const Result<Duration> length = parse_duration(args.length, "length");
  if (!length) return error_in("--length", length.error().what, length.error().fix);
  return *length;
}

}  // namespace

bool chunk_clocked(const GeneratorSpec& spec) {
  return std::holds_alternative<UniformPerChunkSpec>(spec);
}

Result<GeneratedLinks> generate_links(const GeneratorArgs& args) {
  const auto parameters = parameters_of(args);
  if (!parameters) return parameters.error();
  const Result<GeneratorSpec> spec = make_spec(args.words.front(), *parameters);
  if (!spec) return at_command(spec.error(), args);
  if (args.replicates < 1 || args.replicates > kMaxReplicates) {
    return error_in("--replicates", fmt::format("{} is out of range", args.replicates),
                    fmt::format("use 1 to {}", kMaxReplicates));
  }
  Duration length{};
  if (!chunk_clocked(*spec)) {
    const Result<Duration> given = length_of(args);
    if (!given) return given.error();
    length = *given;
  }
  GeneratedLinks links{*spec, {}};
  std::size_t num_steps = 0;
  for (std::uint64_t replicate = 0; replicate < args.replicates; ++replicate) {
    Result<LinkTrace> trace = generate(*spec, args.seed, replicate, length);
    if (!trace) return at_command(trace.error(), args);
    num_steps += trace->steps.size();
    if (num_steps > kMaxSteps) {
      return error_in(
          "--replicates",
          fmt::format("{} traces have more than {} rate changes", args.replicates, kMaxSteps),
          "ask for fewer or shorter traces");
    }
    links.traces.push_back(std::move(*trace));
  }
  return links;
}

}  // namespace sluice::trace_cli
