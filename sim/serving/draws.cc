#include "sim/serving/draws.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/serving/prefix_cache.h"
#include "sim/serving/workload_draws.h"

namespace sluice {
namespace {

// The main link's draws are the scenario's; every other direction has a seed of its own.
std::uint64_t seed_of(const Scenario& s, std::size_t cable, bool is_back) {
  if (cable == 0 && !is_back) return s.seed;
  const std::string name = s.topology.cables[cable].name + (is_back ? " (back)" : "");
  return RandomStream(s.seed, "cable " + name, 0).next_u64();
}

Result<LinkTrace> draw_trace(const Scenario& s, std::size_t cable, bool is_back,
                             std::uint64_t replicate) {
  const CableSetting& setting = s.topology.cables[cable];
  const LinkSetting& link = s.topology.links[is_back ? *setting.back : setting.link];
  if (const auto* spec = std::get_if<GeneratorSpec>(&link.capacity))
    return generate(*spec, seed_of(s, cable, is_back), replicate, link.trace_length);
  const auto& traces = std::get<ReplayedTraces>(link.capacity).traces;
  return traces[(replicate + cable) % traces.size()];
}

Result<std::vector<CableTraces>> draw_cables(const Scenario& s, std::uint64_t replicate) {
  std::vector<CableTraces> cables;
  for (std::size_t i = 0; i < s.topology.cables.size(); ++i) {
    Result<LinkTrace> there = draw_trace(s, i, false, replicate);
    if (!there) return there.error();
    cables.push_back({std::move(*there), std::nullopt});
    if (!s.topology.cables[i].back) continue;
    Result<LinkTrace> back = draw_trace(s, i, true, replicate);
    if (!back) return back.error();
    cables.back().back = std::move(*back);
  }
  return cables;
}

Duration draw_gap(const Arrivals& arrivals, RandomStream& random) {
  if (const auto* every = std::get_if<EveryArrivals>(&arrivals)) return every->gap;
  if (const auto* poisson = std::get_if<PoissonArrivals>(&arrivals)) {
    return seconds_to_duration(random.exponential(to_seconds(poisson->mean_gap)));
  }
  return Duration::zero();
}

NodeIndex draw_source(const TopologySetting& topology, RandomStream& random) {
  double all = 0;
  for (const SourceSetting& source : topology.sources) all += source.share;
  double left = random.uniform() * all;
  for (const SourceSetting& source : topology.sources) {
    left -= source.share;
    if (left < 0) return source.node;
  }
  return topology.sources.back().node;
}

NodeIndex draw_destination(const TopologySetting& topology, RandomStream& random) {
  return topology
      .destinations[static_cast<std::size_t>(random.below(topology.destinations.size()))];
}

// Where requests go, and what of them is there already.
class Placement {
 public:
  Placement(const Scenario& s, std::int64_t block_tokens, std::uint64_t replicate)
      : topology_(s.topology),
        cache_(s.workload.prefix_cache),
        block_tokens_(block_tokens),
        seed_(s.seed),
        replicate_(replicate),
        load_places_(s.seed, "places", replicate),
        warm_up_places_(s.seed, "warm-up-places", replicate) {}

  LoadDraw place(const RequestDraw& request) {
    LoadDraw load;
    load.context_tokens = request.context_tokens;
    RandomStream& places = request.is_load ? load_places_ : warm_up_places_;
    load.source = draw_source(topology_, places);
    load.destination =
        request.session ? home_of(*request.session) : draw_destination(topology_, places);
    if (!cache_) return load;
    PrefixCache& cache =
        caches_.try_emplace(load.destination, cache_->capacity_tokens / block_tokens_)
            .first->second;
    load.resident_tokens = std::min(load.context_tokens, cache.use(request.blocks) * block_tokens_);
    return load;
  }

 private:
  // A stream for each session: it is at home at one GPU node whichever turn is met first.
  [[nodiscard]] NodeIndex home_of(std::uint64_t session) const {
    RandomStream random(seed_, fmt::format("home {}", session), replicate_);
    return draw_destination(topology_, random);
  }

  const TopologySetting& topology_;
  std::optional<PrefixCacheSetting> cache_;
  std::int64_t block_tokens_;
  std::uint64_t seed_, replicate_;
  RandomStream load_places_, warm_up_places_;
  std::map<NodeIndex, PrefixCache> caches_;
};

}  // namespace

Duration draw_offset(const LinkSetting& link, const LinkTrace& trace, RandomStream& random) {
  const auto* replayed = std::get_if<ReplayedTraces>(&link.capacity);
  if (trace.clock == TraceClock::kChunk || (replayed != nullptr && !replayed->random_offset))
    return Duration::zero();
  if (trace.end == TraceEnd::kHold)
    return Duration::zero();  // a trace that is told once begins at its beginning
  return Duration{
      static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(trace.length.count())))};
}

Result<ReplicateDraws> draw_replicate(const Scenario& s, std::int64_t replicate) {
  const auto r = static_cast<std::uint64_t>(replicate);
  Result<std::vector<CableTraces>> cables = draw_cables(s, r);
  if (!cables) return cables.error();
  Result<RequestSource> requests = make_request_source(s, r);
  if (!requests) return requests.error();
  RandomStream offsets(s.seed, "trace-offset", r), gaps(s.seed, "arrivals", r);
  Placement placement(s, requests->block_tokens, r);
  const bool isolated = std::holds_alternative<IsolatedArrivals>(s.workload.arrivals);
  const LinkSetting& link = s.topology.main_link();
  ReplicateDraws draws{std::move(*cables), {}};
  const LinkTrace& trace = draws.cables.front().there;
  const Duration shared_offset = draw_offset(link, trace, offsets);
  Instant at = kRunStart + s.warm_up;
  for (std::int64_t i = 0; i < requests->num_requests; ++i) {
    const RequestDraw request = requests->next();
    LoadDraw load = placement.place(request);
    if (!request.is_load) continue;
    const bool is_first = draws.loads.empty();
    load.trace_offset = isolated && !is_first ? draw_offset(link, trace, offsets) : shared_offset;
    load.arrives_at = at + request.arrival;
    draws.loads.push_back(load);
    at += draw_gap(s.workload.arrivals, gaps);
  }
  return draws;
}

}  // namespace sluice
