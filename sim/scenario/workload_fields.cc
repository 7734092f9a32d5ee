#include "sim/scenario/workload_fields.h"

#include <fmt/format.h>

namespace sluice {
namespace {

constexpr std::int64_t kMaxLoads = 1'000'000;

TokenCountRange read_token_counts(Fields& fields, const std::string& key) {
  const YAML::Node node = fields.node(key, true);
  if (!node.IsDefined() || !node.IsMap()) {
    const std::int64_t n = fields.integer(key, 1, kMaxContextTokens);
    return {n, n};
  }
  Fields range = fields.child(key, true);
  TokenCountRange r{range.integer("low", 1, kMaxContextTokens),
                    range.integer("high", 1, kMaxContextTokens)};
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

}  // namespace

WorkloadSetting read_workload(Fields fields) {
  WorkloadSetting w;
  w.arrivals = read_arrivals(fields);
  w.loads = fields.integer("loads", 1, kMaxLoads, 1);
  w.context_tokens = read_token_counts(fields, "context_tokens");
  w.query_tokens = fields.integer("query_tokens", 0, kMaxContextTokens, 32);
  w.give_up = fields.duration("give_up", std::chrono::seconds{60});
  fields.finish();
  return w;
}

}  // namespace sluice
