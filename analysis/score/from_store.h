// Stored runs and loads as the input of scoring: the one place where rows become ScoreInput.
// Where in the flow: between the store (7) and the score (6), for `sim`, `compare` and `report`.
// Surprise: where replicates share link traces, and there are several, the trace is the cluster,
// not the replicate: windows of one trace overlap.
#pragma once

#include <vector>

#include "analysis/score/score.h"
#include "analysis/store/store.h"

namespace sluice {

// What of the runs that a filter lets through is scored; an empty field does not restrict.
struct ScoreSelection {
  std::vector<std::string> policies;  // as find_policy() understands them, in the order to print
  std::optional<std::uint64_t> seed;
  std::optional<std::int64_t> num_replicates;  // those below this number
  std::optional<std::int64_t> only_replicate;
};

// One input per scenario, tier and seed, each with its policies, in the store's order unless the
// selection gives one. Runs that are not done are left out, and a note of the input says how many.
// Empty when no run is done.
[[nodiscard]] Result<std::vector<ScoreInput>> read_score_inputs(
    const Store& store, RunFilter filter, const ScoreSelection& selection = {});

// "fixed:level=int8@token"; the name alone when the policy has no parameters.
[[nodiscard]] std::string display_name(const PolicyFacts& policy);

}  // namespace sluice
