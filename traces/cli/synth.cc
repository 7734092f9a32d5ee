#include <fmt/format.h>

#include "base/parse.h"
#include "traces/cli/commands.h"
#include "traces/generate.h"
#include "traces/write.h"

namespace sluice::trace_cli {
namespace {

constexpr std::uint64_t kMaxReplicates = 100'000;
constexpr std::size_t kMaxSteps = 10'000'000;  // in all: they are held in memory

struct Order {
  GeneratorSpec spec;
  Duration length{};
  std::string out, to;
};

Result<std::vector<ParameterText>> parameters_of(const std::vector<std::string>& words) {
  std::vector<ParameterText> parameters;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string::npos) {
      return error_in("synth", fmt::format("`{}` is not a parameter", words[i]),
                      "write GENERATOR key=value ... OUT");
    }
    parameters.push_back({words[i].substr(0, equals), words[i].substr(equals + 1)});
  }
  return parameters;
}

// Errors of a generator's parameters have no place of their own.
Error at_synth(Error error) {
  if (error.file.empty()) error.file = "synth";
  return error;
}

Result<Order> parse_order(const SynthArgs& args) {
  if (args.words.size() < 2)
    return error_in("synth", "too few words", "write GENERATOR key=value ... OUT");
  const auto parameters = parameters_of(args.words);
  if (!parameters) return parameters.error();
  Order order;
  Result<GeneratorSpec> spec = make_spec(args.words.front(), *parameters);
  if (!spec) return at_synth(spec.error());
  order.spec = std::move(*spec);
  order.out = args.words.back();
  const bool chunked = std::holds_alternative<UniformPerChunkSpec>(order.spec);
  order.to = !args.to.empty() ? args.to : chunked ? "cachegen" : "csv";
  if (args.replicates < 1 || args.replicates > kMaxReplicates) {
    return error_in("--replicates", fmt::format("{} is out of range", args.replicates),
                    fmt::format("use 1 to {}", kMaxReplicates));
  }
  if (chunked) return order;
  if (args.length.empty()) {
    return error_in("--length", fmt::format("{} needs it", args.words.front()),
                    "give one, as in `--length 60s`");
  }
  const Result<Duration> length = parse_duration(args.length, "length");
  if (!length) return error_in("--length", length.error().what, length.error().fix);
  order.length = *length;
  return order;
}

}  // namespace

Status synth(const SynthArgs& args) {
  const Result<Order> order = parse_order(args);
  if (!order) return order.error();
  std::vector<LinkTrace> traces;
  std::size_t num_steps = 0;
  for (std::uint64_t replicate = 0; replicate < args.replicates; ++replicate) {
    Result<LinkTrace> trace = generate(order->spec, args.seed, replicate, order->length);
    if (!trace) return at_synth(trace.error());
    num_steps += trace->steps.size();
    if (num_steps > kMaxSteps) {
      return error_in(
          "--replicates",
          fmt::format("{} traces have more than {} rate changes", args.replicates, kMaxSteps),
          "ask for fewer or shorter traces");
    }
    traces.push_back(std::move(*trace));
  }
  if (Status written = write_traces(order->out, order->to, traces); !written) return written;
  fmt::print(stderr, "note: wrote {} as {}: {}, seed {}\n", order->out, order->to,
             describe(order->spec), args.seed);
  return {};
}

}  // namespace sluice::trace_cli
