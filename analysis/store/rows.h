// What the store gives back: runs with their provenance, and loads light enough to score by the
// million.
// Where in the flow: between the store (7) and score, compare, report (6, 8).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/store/facts.h"
#include "sim/session/record.h"

namespace sluice {

struct RunRow {
  RunId id;
  std::string scenario, scenario_sha256;
  PolicyFacts policy;
  std::int64_t replicate = 0;
  std::string tier;
  std::uint64_t seed = 0;
  bool done = false;
  std::string worker;
  WallTime claimed_at{};
  CampaignId campaign;
  std::optional<LinkTraceFacts> link_trace;
  Duration link_trace_offset{};
  std::vector<ProfileFacts> profiles;
  std::int64_t num_loads = 0;  // this and the next only when done
  std::int64_t num_violated = 0;
  RunMetrics metrics;
};

// "seed-ratio:k=1", as --policy takes it.
[[nodiscard]] std::string policy_text(const PolicyFacts& policy);
// For people: scenario, policy, tier, seed, replicate.
[[nodiscard]] std::string name_of(const RunRow& run);

// Which runs or loads; an empty field does not restrict.
struct RunFilter {
  std::optional<std::string> scenario;         // name
  std::optional<std::string> scenario_sha256;  // tells scenarios of one name apart
  std::optional<std::string> policy;           // name
  std::optional<std::string> policy_params;
  std::optional<std::string> tier;
  std::optional<RunId> run;
  bool done_only = true;
};

// Fetched chunks of one load at one level.
struct LevelCount {
  std::int32_t level = 0;  // index into LoadTable::levels
  std::int32_t num_chunks = 0;
  std::int64_t num_tokens = 0;
};

struct LoadRow {
  RunId run;
  std::int64_t replicate = 0;
  std::int64_t index = 0;  // within its run
  Instant arrived_at;
  Duration slo{};
  std::optional<Duration> ttft;
  LoadOutcome outcome = LoadOutcome::kUnfinished;
  bool violated = true;
  DataSize bytes_moved;
  double quality = 0;
  std::int64_t context_tokens = 0;
  std::int64_t recomputed_tokens = 0;
  DataSize peak_memory;
  std::vector<LevelCount> levels;  // of fetched chunks, by level index
};

// How far a tier is from a deeper one; made from loads that the store holds.
struct ValidationRow {
  std::string policy;  // with parameters; empty: all together
  std::string tier, reference_tier;
  std::int64_t num_loads = 0, num_unmatched = 0;
  std::optional<double> error_median, error_p95, bias;  // shares of the reference's TTFT
  std::int64_t violations = 0, reference_violations = 0;
  std::string doubts;  // one line each
  bool operator==(const ValidationRow&) const = default;
};

struct LoadTable {
  std::vector<std::string> levels;  // "cachegen-released@2"
  std::vector<LoadRow> loads;       // by scenario, policy, tier, seed, replicate, load index
};

}  // namespace sluice
