#include "sim/serving/draws.h"

#include "base/random.h"

namespace sluice {
namespace {

Result<LinkTrace> trace_of(const Scenario& s, std::uint64_t replicate) {
  if (const auto* spec = std::get_if<GeneratorSpec>(&s.link.capacity)) {
    return generate(*spec, s.seed, replicate, s.link.trace_length);
  }
  const auto& traces = std::get<ReplayedTraces>(s.link.capacity).traces;
  return traces[replicate % traces.size()];
}

Duration draw_offset(const Scenario& s, const LinkTrace& trace, RandomStream& random) {
  const auto* replayed = std::get_if<ReplayedTraces>(&s.link.capacity);
  if (trace.clock == TraceClock::kChunk || (replayed != nullptr && !replayed->random_offset))
    return Duration::zero();
  if (trace.end == TraceEnd::kHold)
    return Duration::zero();  // a trace that is told once begins at its beginning
  return Duration{
      static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(trace.length.count())))};
}

Duration draw_gap(const Arrivals& arrivals, RandomStream& random) {
  if (const auto* every = std::get_if<EveryArrivals>(&arrivals)) return every->gap;
  if (const auto* poisson = std::get_if<PoissonArrivals>(&arrivals)) {
    return seconds_to_duration(random.exponential(to_seconds(poisson->mean_gap)));
  }
  return Duration::zero();
}

}  // namespace

Result<ReplicateDraws> draw_replicate(const Scenario& s, std::int64_t replicate) {
  const auto r = static_cast<std::uint64_t>(replicate);
  Result<LinkTrace> trace = trace_of(s, r);
  if (!trace) return trace.error();
  RandomStream lengths(s.seed, "context-tokens", r), offsets(s.seed, "trace-offset", r),
      gaps(s.seed, "arrivals", r);
  const bool isolated = std::holds_alternative<IsolatedArrivals>(s.workload.arrivals);
  const TokenCountRange range = s.workload.context_tokens;
  ReplicateDraws draws{std::move(*trace), {}};
  const Duration shared_offset = draw_offset(s, draws.trace, offsets);
  Instant at = kRunStart;
  for (std::int64_t i = 0; i < s.workload.loads; ++i) {
    const auto width = static_cast<std::uint64_t>(range.high - range.low + 1);
    const std::int64_t tokens = range.low + static_cast<std::int64_t>(lengths.below(width));
    const Duration offset =
        isolated && i > 0 ? draw_offset(s, draws.trace, offsets) : shared_offset;
    draws.loads.push_back({tokens, at, offset});
    at += draw_gap(s.workload.arrivals, gaps);
  }
  return draws;
}

}  // namespace sluice
