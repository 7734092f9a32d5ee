// The same loads under all policies: put in one order, checked to be the same, summed per cluster.
// Where in the flow: step 6, between the input and the statistics.
#pragma once

#include "analysis/score/clusters.h"
#include "analysis/score/score.h"

namespace sluice {

// Sorts every policy's loads by (cluster, replicate, load). Errors: a load recorded twice; a load
// that one policy met and another did not.
[[nodiscard]] Status match_loads(ScoreInput& input);

// All below need matched loads.
[[nodiscard]] ClusterSums sums_of(const ScoreInput& input);
[[nodiscard]] PairedCounts count_pairs(const PolicyInput& a, const PolicyInput& b);
// Did both policies do the very same thing in every load? Then nothing is left to chance.
[[nodiscard]] bool identical(const PolicyInput& a, const PolicyInput& b);

}  // namespace sluice
