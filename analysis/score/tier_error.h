// How far one network tier is from a deeper one: the same loads under the same policy in both.
// Where in the flow: step 6, beside the score; `./sluice sim --validate` prints and stores it.
// Surprises: loads that moved no byte in either tier say nothing of the network and are left out; a
// policy that adapts may decide otherwise in the other tier, so the fixed ones show the network's
// own error.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/score/score.h"

namespace sluice {

struct TierError {
  std::int64_t num_loads = 0;      // with a first token in both tiers
  std::int64_t num_unmatched = 0;  // with one in one tier only
  // Of |TTFT - reference| / reference: the ceil(q n)-th smallest; absent without loads.
  std::optional<double> median, p95;
  std::optional<double> bias;                             // mean of (TTFT - reference) / reference
  std::int64_t violations = 0, reference_violations = 0;  // of all loads that moved bytes
};

// Loads are matched by (replicate, load); those that only one side holds are left out.
[[nodiscard]] TierError tier_error(std::span<const ScoredLoad> loads,
                                   std::span<const ScoredLoad> reference);

struct TierComparison {
  std::string policy;  // empty: all policies together
  std::string tier, reference;
  TierError error;
};

// Each tier against each that follows it in the list, per policy and over all of them. The inputs
// are of one scenario and seed, from the shallowest tier to the deepest.
[[nodiscard]] std::vector<TierComparison> compare_tiers(std::span<const ScoreInput> by_tier);

}  // namespace sluice
