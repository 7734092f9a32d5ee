#include "sim/scenario/workload_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/parse.h"
#include "sim/scenario/workload_trace_fields.h"

namespace sluice {
namespace {

constexpr std::int64_t kMaxLoads = 1'000'000;
constexpr std::int64_t kMaxSessions = 1'000'000;
constexpr std::int64_t kMaxTurns = 1'000'000;
constexpr std::int64_t kMaxSharedPrefixes = 1'000'000;
constexpr std::int64_t kMaxCacheTokens = 1'000'000'000'000;
constexpr std::int64_t kBytesPerElement = 2;  // a resident cache is decoded: fp16 or bf16

TokenCountRange read_token_counts(Fields& fields, const std::string& key,
                                  std::int64_t most = kMaxContextTokens) {
  const YAML::Node node = fields.node(key, true);
  if (!node.IsDefined() || !node.IsMap()) {
    const std::int64_t n = fields.integer(key, 1, most);
    return {n, n};
  }
  Fields range = fields.child(key, true);
  TokenCountRange r{range.integer("low", 1, most), range.integer("high", 1, most)};
  range.finish();
  if (r.low > r.high)
    fields.errors().add(node, fmt::format("{}: low passes high", range.path_of("low")),
                        "swap them");
  return r;
}

Arrivals read_arrivals(Fields& fields) {
  const YAML::Node node = fields.node("arrivals", false);
  if (!node.IsDefined() || node.IsScalar()) {
    (void)fields.choice("arrivals", {"isolated"}, "isolated");
    return IsolatedArrivals{};
  }
  Fields arrivals = fields.child("arrivals", true);
  Arrivals result = IsolatedArrivals{};
  if (arrivals.has("every")) {
    result = EveryArrivals{arrivals.duration("every")};
  } else {
    result = PoissonArrivals{arrivals.duration("poisson_mean_gap")};
  }
  arrivals.finish();
  return result;
}

// Without a `trace`: contexts that are drawn.
void read_drawn(Fields& fields, WorkloadSetting& w) {
  w.arrivals = read_arrivals(fields);
  w.context_tokens = read_token_counts(fields, "context_tokens");
  if (fields.has("sessions")) {
    Fields sessions = fields.child("sessions", true);
    ChatContexts chat{.concurrent = sessions.integer("concurrent", 1, kMaxSessions),
                      .first_tokens = w.context_tokens,
                      .turns = read_token_counts(sessions, "turns", kMaxTurns),
                      .turn_tokens = read_token_counts(sessions, "turn_tokens")};
    sessions.finish();
    w.context_tokens.high += (chat.turns.high - 1) * chat.turn_tokens.high;
    w.contexts = chat;
    return;
  }
  IndependentContexts own;
  if (fields.has("shared_prefixes")) {
    Fields shared = fields.child("shared_prefixes", true);
    own = {.shared_fraction = shared.number("share", 0.0, 1.0),
           .shared_count = shared.integer("count", 1, kMaxSharedPrefixes, 1),
           .shared_tokens = shared.integer("tokens", 1, kMaxContextTokens)};
    shared.finish();
  }
  w.contexts = own;
}

// As many tokens as fit into `size`, each counted in all layers.
std::int64_t tokens_in(DataSize size, const ModelGeometry& model) {
  const std::int64_t token_bytes = model.elements(1) * kBytesPerElement;
  return token_bytes > 0 ? size.bytes() / token_bytes : 0;
}

std::optional<PrefixCacheSetting> read_prefix_cache(Fields& fields, const ModelGeometry& model) {
  const YAML::Node node = fields.node("prefix_cache", false);
  if (!node.IsDefined()) return std::nullopt;
  if (!node.IsMap()) {
    if (fields.text("prefix_cache") == "none") return std::nullopt;
    return PrefixCacheSetting{.capacity_tokens = tokens_in(fields.size("prefix_cache"), model)};
  }
  Fields cache = fields.child("prefix_cache", true);
  PrefixCacheSetting setting;
  if (cache.has("tokens")) {
    setting.capacity_tokens = cache.integer("tokens", 0, kMaxCacheTokens);
  } else {
    setting.capacity_tokens = tokens_in(cache.size("size"), model);
  }
  setting.warm_up = cache.integer("warm_up", 0, kMaxLoads, 0);
  cache.finish();
  return setting;
}

// A cache that nothing could ever be found in is a slip.
void check_shares(Fields& fields, const WorkloadSetting& w) {
  if (!w.prefix_cache) return;
  const auto* own = std::get_if<IndependentContexts>(&w.contexts);
  const auto* replayed = std::get_if<ReplayedContexts>(&w.contexts);
  if (own != nullptr && own->shared_fraction == 0) {
    fields.errors().add(fields.node("prefix_cache", false),
                        "workload.prefix_cache: no two contexts share anything",
                        "give a `trace` with prefixes, `sessions` or `shared_prefixes`");
  }
  if (replayed != nullptr && !replayed->source.summary().block_tokens) {
    fields.errors().add(fields.node("prefix_cache", false),
                        "workload.prefix_cache: the trace says nothing of shared prefixes",
                        "write `prefix_cache: none`");
  }
}

}  // namespace

WorkloadSetting read_workload(Fields fields, const std::filesystem::path& folder,
                              const ModelGeometry& model) {
  WorkloadSetting w;
  w.loads = fields.integer("loads", 1, kMaxLoads, 1);
  w.prefix_cache = read_prefix_cache(fields, model);
  w.query_tokens = fields.integer("query_tokens", 0, kMaxContextTokens, 32);
  w.give_up = fields.duration("give_up", std::chrono::seconds{60});
  if (fields.has("trace")) {
    const YAML::Node said = fields.node("arrivals", false);
    const bool says_arrivals = said.IsDefined() && !(said.IsScalar() && said.Scalar() == "trace");
    if (says_arrivals) w.arrivals = read_arrivals(fields);
    read_workload_trace(fields, folder, says_arrivals, w);
  } else {
    read_drawn(fields, w);
  }
  fields.finish();
  if (fields.errors().any()) return w;
  if (w.context_tokens.high > kMaxContextTokens) {
    fields.errors().add(fields.node(),
                        fmt::format("workload: contexts of up to {} tokens, more than {}",
                                    w.context_tokens.high, kMaxContextTokens),
                        "use shorter ones");
  }
  check_shares(fields, w);
  return w;
}

}  // namespace sluice
