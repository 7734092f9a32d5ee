// Stored runs and loads as the input of scoring: the one place where rows become ScoreInput.
// Where in the flow: between the store (7) and the score (6), for `sim`, `compare` and `report`.
// Surprise: where replicates share link traces, and there are several, the trace is the cluster,
// not the replicate: windows of one trace overlap.
#pragma once

#include <vector>

#include "analysis/score/score.h"
#include "analysis/store/store.h"

namespace sluice {

// One input per scenario, tier and seed among the runs that `filter` lets through, each with its
// policies, in the store's order. Runs that are not done are left out, and a note of the input says
// how many. Empty when no run is done.
[[nodiscard]] Result<std::vector<ScoreInput>> read_score_inputs(Store& store,
                                                                const RunFilter& filter);

// "fixed:level=int8@token"; the name alone when the policy has no parameters.
[[nodiscard]] std::string display_name(const PolicyFacts& policy);

}  // namespace sluice
