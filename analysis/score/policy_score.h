// One policy alone: its violation rate, times, bytes, quality and level mix.
// Where in the flow: step 6; the interval over clusters needs all policies and is added by
// score.cc.
#pragma once

#include "analysis/score/clusters.h"
#include "analysis/score/score.h"

namespace sluice {

// `input` is the policy `index` of those that `sums` was made from.
[[nodiscard]] PolicyScore score_policy(const PolicyInput& input, const ClusterSums& sums,
                                       std::size_t index, double confidence);

}  // namespace sluice
