#include "analysis/score/matched_loads.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace sluice {
namespace {

auto key_of(const ScoredLoad& load) {
  return std::tuple(load.cluster, load.replicate, load.load);
}
bool same_load(const ScoredLoad& x, const ScoredLoad& y) {
  return key_of(x) == key_of(y);
}
bool comes_before(const ScoredLoad& x, const ScoredLoad& y) {
  return key_of(x) < key_of(y);
}

Status sort_loads(PolicyInput& policy) {
  std::sort(policy.loads.begin(), policy.loads.end(), comes_before);
  const auto twice = std::adjacent_find(policy.loads.begin(), policy.loads.end(), same_load);
  if (twice == policy.loads.end()) return {};
  return error_in("",
                  fmt::format("policy `{}` has load {} of replicate {} twice", policy.policy,
                              twice->load, twice->replicate),
                  "score one run of each replicate");
}

Error missing_load(const PolicyInput& without, const PolicyInput& with, const ScoredLoad& load) {
  return error_in(
      "",
      fmt::format(
          "policy `{}` lacks load {} of replicate {}, which `{}` has, so they cannot be paired",
          without.policy, load.load, load.replicate, with.policy),
      "finish the run (the same command resumes it), or narrow with --policy or --replicates");
}

// Both sorted.
Status check_paired(const PolicyInput& a, const PolicyInput& b) {
  const auto [in_a, in_b] =
      std::mismatch(a.loads.begin(), a.loads.end(), b.loads.begin(), b.loads.end(), same_load);
  if (in_a == a.loads.end() && in_b == b.loads.end()) return {};
  if (in_b == b.loads.end()) return missing_load(b, a, *in_a);
  if (in_a == a.loads.end()) return missing_load(a, b, *in_b);
  return comes_before(*in_a, *in_b) ? missing_load(b, a, *in_a) : missing_load(a, b, *in_b);
}

}  // namespace

Status match_loads(ScoreInput& input) {
  for (PolicyInput& policy : input.policies) {
    if (auto sorted = sort_loads(policy); !sorted) return sorted;
    if (auto paired = check_paired(input.policies.front(), policy); !paired) return paired;
  }
  return {};
}

ClusterSums sums_of(const ScoreInput& input) {
  ClusterSums sums;
  if (input.policies.empty()) return sums;
  std::vector<std::size_t> cluster_of;  // [load]; the same for all policies
  const auto& loads = input.policies.front().loads;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (i == 0 || loads[i].cluster != loads[i - 1].cluster) sums.loads.push_back(0);
    ++sums.loads.back();
    cluster_of.push_back(sums.loads.size() - 1);
  }
  for (const PolicyInput& policy : input.policies) {
    auto& violations = sums.violations.emplace_back(sums.loads.size(), 0);
    for (std::size_t i = 0; i < policy.loads.size(); ++i) {
      violations[cluster_of[i]] += policy.loads[i].violated ? 1 : 0;
    }
  }
  return sums;
}

bool identical(const PolicyInput& a, const PolicyInput& b) {
  return std::equal(a.loads.begin(), a.loads.end(), b.loads.begin(), b.loads.end(),
                    [](const ScoredLoad& x, const ScoredLoad& y) {
                      return x.violated == y.violated && x.ttft == y.ttft &&
                             x.quality == y.quality && x.bytes_moved == y.bytes_moved &&
                             x.recomputed_tokens == y.recomputed_tokens;
                    });
}

PairedCounts count_pairs(const PolicyInput& a, const PolicyInput& b) {
  PairedCounts counts;
  for (std::size_t i = 0; i < a.loads.size(); ++i) {
    const bool va = a.loads[i].violated, vb = b.loads[i].violated;
    ++(va && vb ? counts.both : va ? counts.only_a : vb ? counts.only_b : counts.neither);
  }
  return counts;
}

}  // namespace sluice
