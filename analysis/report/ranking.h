// In which order the page shows the policies, and against which of them it compares.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/score/score.h"

namespace sluice {

// Indices into Score::policies: least violations first, policies without loads last, equals as in
// the score.
[[nodiscard]] std::vector<std::size_t> ranked(const Score& score);

// The baseline; without one the policy that violates least. p-values stay those of all pairs
// scored, so that choosing the reference after seeing the result is allowed for. The score must
// have a policy.
[[nodiscard]] std::string reference_policy(const Score& score);

// The pairs that the reference is part of, each turned so that it is `b`, in ranked order of `a`.
[[nodiscard]] std::vector<PairScore> pairs_against(const Score& score,
                                                   const std::string& reference);

}  // namespace sluice
