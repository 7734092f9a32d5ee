#include "sim/scenario/consistency.h"

#include <fmt/format.h>

#include "traces/generate.h"

namespace sluice {
namespace {

// What memory and patience allow: a policy looks at all chunks at every step, a run is written at
// once.
constexpr std::int64_t kMaxChunksPerContext = 10'000;
constexpr std::int64_t kMaxChunksPerRun = 1'000'000;
constexpr std::int64_t kMaxRuns = 1'000'000;

// Refuses what would neither fit into memory nor ever end.
void check_amount(Fields& top, const Scenario& s) {
  FieldErrors& errors = top.errors();
  const std::int64_t chunks =
      (s.workload.context_tokens.high + s.chunk_tokens - 1) / s.chunk_tokens;
  if (chunks > kMaxChunksPerContext) {
    errors.add(top.node("codec", false),
               fmt::format("codec.chunk_tokens: {} make {} chunks of a context, more than {}",
                           s.chunk_tokens, chunks, kMaxChunksPerContext),
               "use larger chunks or shorter contexts");
  } else if (chunks * s.workload.loads > kMaxChunksPerRun) {
    errors.add(
        top.node("workload", false),
        fmt::format("workload.loads: {} of up to {} chunks make more than {} chunks in a run",
                    s.workload.loads, chunks, kMaxChunksPerRun),
        "use fewer loads and more replicates, or larger chunks");
  }
  const auto runs = s.replicates * static_cast<std::int64_t>(s.policies.size() * s.tiers.size());
  if (runs > kMaxRuns) {
    errors.add(
        top.node("replicates", false),
        fmt::format("replicates: {} make {} runs, more than {}", s.replicates, runs, kMaxRuns),
        "use fewer replicates, policies or tiers");
  }
}

// A generator that cannot fill its trace is a fault of the file, not of a run.
void check_generated(Fields& top, const Scenario& s) {
  const auto* spec = std::get_if<GeneratorSpec>(&s.link.capacity);
  if (spec == nullptr) return;
  const Result<LinkTrace> trace = generate(*spec, s.seed, 0, s.link.trace_length);
  if (!trace) {
    top.errors().add(top.node("link", false),
                     "link.capacity with link.trace_length: " + trace.error().what,
                     trace.error().fix);
  }
}

}  // namespace

void check_consistency(Fields& top, const Scenario& s) {
  FieldErrors& errors = top.errors();
  const bool isolated = std::holds_alternative<IsolatedArrivals>(s.workload.arrivals);
  if (s.link.chunk_clocked() && (!isolated || s.workload.loads != 1)) {
    errors.add(top.node("workload", false),
               "a chunk-clocked link takes one isolated load per replicate",
               "use `arrivals: isolated` and `loads: 1`");
  }
  if (s.link.mtu <= s.transport.header)
    errors.add(top.node("link", false), "link.mtu is not larger than the header",
               "use a larger mtu");
  if (s.slo <= Duration::zero())
    errors.add(top.node("slo", false), "slo is not positive", "use a positive time");
  if (s.workload.give_up <= s.slo)
    errors.add(top.node("workload", false), "workload.give_up does not pass the slo",
               "use a larger give_up");
  check_amount(top, s);
  check_generated(top, s);
}

}  // namespace sluice
