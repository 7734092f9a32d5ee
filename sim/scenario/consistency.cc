#include "sim/scenario/consistency.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

// What memory and patience allow: a policy looks at all chunks at every step, a run is written at
// once.
constexpr std::int64_t kMaxChunksPerContext = 10'000;
constexpr std::int64_t kMaxChunksPerRun = 1'000'000;
constexpr Duration kMaxRunLength = std::chrono::hours{24 * 365};
constexpr std::int64_t kMaxRuns = 1'000'000;
constexpr std::int64_t kMaxBlocks = 20'000'000;  // about 100 bytes each in a prefix cache
constexpr std::int64_t kMaxOpenTurns = 20'000'000;

Duration mean_gap(const Arrivals& arrivals) {
  if (const auto* every = std::get_if<EveryArrivals>(&arrivals)) return every->gap;
  if (const auto* poisson = std::get_if<PoissonArrivals>(&arrivals)) return poisson->mean_gap;
  return Duration::zero();
}

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
  if (mean_gap(s.workload.arrivals) > kMaxRunLength / s.workload.loads) {
    errors.add(
        top.node("workload", false),
        fmt::format("workload.arrivals: {} loads come over more than a year", s.workload.loads),
        "use fewer loads or a smaller gap");
  }
  const auto runs = s.replicates * static_cast<std::int64_t>(s.policies.size() * s.tiers.size());
  if (runs > kMaxRuns) {
    errors.add(
        top.node("replicates", false),
        fmt::format("replicates: {} make {} runs, more than {}", s.replicates, runs, kMaxRuns),
        "use fewer replicates, policies or tiers");
  }
}

// What is drawn for a prefix cache, and the sessions that are open when a run begins. Of a replayed
// trace the file says how much there is.
void check_prefixes(Fields& top, const WorkloadSetting& w) {
  if (std::holds_alternative<ReplayedContexts>(w.contexts)) return;
  Fields workload = top.child("workload", true);
  const auto refuse = [&](const std::string& key, const std::string& what, std::string_view unit,
                          std::int64_t most, std::string fix) {
    workload.errors().add(
        workload.node(key, false),
        fmt::format("workload.{}: {} make more than {} {}", key, what, most, unit), std::move(fix));
  };
  const std::string blocks = fmt::format("blocks of {} tokens", kDrawnBlockTokens);
  const auto too_many = [](std::int64_t count, std::int64_t tokens) {
    return count > kMaxBlocks / (tokens / kDrawnBlockTokens + 1);
  };
  if (const auto* chat = std::get_if<ChatContexts>(&w.contexts)) {
    if (chat->concurrent > kMaxOpenTurns / chat->turns.high) {
      refuse("sessions", fmt::format("{} of up to {} turns", chat->concurrent, chat->turns.high),
             "turns", kMaxOpenTurns, "use fewer or shorter ones");
    } else if (w.prefix_cache && too_many(chat->concurrent, w.context_tokens.high)) {
      refuse("sessions",
             fmt::format("{} of up to {} tokens", chat->concurrent, w.context_tokens.high), blocks,
             kMaxBlocks, "use fewer or shorter ones");
    }
  }
  if (!w.prefix_cache) return;
  const auto* own = std::get_if<IndependentContexts>(&w.contexts);
  if (own != nullptr && too_many(own->shared_count, own->shared_tokens)) {
    refuse("shared_prefixes",
           fmt::format("{} texts of {} tokens", own->shared_count, own->shared_tokens), blocks,
           kMaxBlocks, "use fewer or shorter ones");
  }
  if (too_many(w.prefix_cache->warm_up + w.loads, w.context_tokens.high)) {
    refuse("prefix_cache",
           fmt::format("{} requests before the loads and {} loads of up to {} tokens",
                       w.prefix_cache->warm_up, w.loads, w.context_tokens.high),
           blocks, kMaxBlocks, "use a smaller warm_up, or fewer loads and more replicates");
  }
}

// A node that the cables do not connect with the first one.
std::optional<NodeIndex> unconnected_node(const TopologySetting& topology) {
  std::vector<bool> reached(topology.nodes.size());
  reached.front() = true;
  for (bool more = true; more;) {
    more = false;
    for (const CableSetting& cable : topology.cables) {
      if (reached[cable.from] == reached[cable.to]) continue;
      reached[cable.from] = reached[cable.to] = true;
      more = true;
    }
  }
  const auto lone = std::find(reached.begin(), reached.end(), false);
  if (lone == reached.end()) return std::nullopt;
  return static_cast<NodeIndex>(lone - reached.begin());
}

void check_network(Fields& top, const Scenario& s) {
  const bool by_chunk = std::any_of(s.topology.links.begin(), s.topology.links.end(),
                                    [](const LinkSetting& link) { return link.chunk_clocked(); });
  const bool isolated = std::holds_alternative<IsolatedArrivals>(s.workload.arrivals);
  if (by_chunk && (!isolated || s.workload.loads != 1)) {
    top.errors().add(top.node("workload", false),
                     "a chunk-clocked link takes one isolated load per replicate",
                     "use `arrivals: isolated` and `loads: 1`");
  }
  if (by_chunk && !s.cross_traffic.empty()) {
    top.errors().add(top.node("cross_traffic", false),
                     "a chunk-clocked link takes no cross traffic",
                     "use a link in time, or no cross traffic");
  }
  if (const auto lone = unconnected_node(s.topology)) {
    top.errors().add(top.node(), fmt::format("no links lead to node `{}`", s.topology.nodes[*lone]),
                     "connect all nodes, or leave it out");
  }
  for (const LinkSetting& link : s.topology.links) {
    if (link.mtu > s.transport.header) continue;
    top.errors().add(top.node(), "the mtu of a link is not larger than the header",
                     "use a larger mtu");
  }
}

}  // namespace

void check_consistency(Fields& top, const Scenario& s) {
  FieldErrors& errors = top.errors();
  if (s.slo <= Duration::zero())
    errors.add(top.node("slo", false), "slo is not positive", "use a positive time");
  if (s.workload.give_up <= s.slo)
    errors.add(top.node("workload", false), "workload.give_up does not pass the slo",
               "use a larger give_up");
  check_amount(top, s);
  check_prefixes(top, s.workload);
  check_network(top, s);
}

}  // namespace sluice
