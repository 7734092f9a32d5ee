#include "analysis/score/tier_error.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace sluice {
namespace {

using LoadName = std::pair<std::int64_t, std::int64_t>;

// errors must be sorted and not empty.
double quantile(const std::vector<double>& errors, double q) {
  const double rank = std::ceil(q * static_cast<double>(errors.size()));
  return errors[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

// Collects pairs of one load in two tiers.
class Pairs {
 public:
  void add(const ScoredLoad& load, const ScoredLoad& reference) {
    if (load.bytes_moved == DataSize::zero() && reference.bytes_moved == DataSize::zero()) return;
    error_.violations += load.violated;
    error_.reference_violations += reference.violated;
    if (load.ttft.has_value() != reference.ttft.has_value()) ++error_.num_unmatched;
    if (!load.ttft || !reference.ttft || *reference.ttft <= Duration::zero()) return;
    const double exact = to_seconds(*reference.ttft);
    relative_.push_back((to_seconds(*load.ttft) - exact) / exact);
  }
  [[nodiscard]] TierError error() const {
    TierError error = error_;
    error.num_loads = static_cast<std::int64_t>(relative_.size());
    if (relative_.empty()) return error;
    std::vector<double> sizes;
    double sum = 0;
    for (const double one : relative_) {
      sizes.push_back(std::abs(one));
      sum += one;
    }
    std::sort(sizes.begin(), sizes.end());
    error.median = quantile(sizes, 0.5);
    error.p95 = quantile(sizes, 0.95);
    error.bias = sum / static_cast<double>(relative_.size());
    return error;
  }
  void add_all(std::span<const ScoredLoad> loads, std::span<const ScoredLoad> reference) {
    std::map<LoadName, const ScoredLoad*> known;
    for (const ScoredLoad& one : reference) known[{one.replicate, one.load}] = &one;
    for (const ScoredLoad& load : loads) {
      const auto same = known.find({load.replicate, load.load});
      if (same != known.end()) add(load, *same->second);
    }
  }

 private:
  TierError error_;
  std::vector<double> relative_;
};

}  // namespace

TierError tier_error(std::span<const ScoredLoad> loads, std::span<const ScoredLoad> reference) {
  Pairs pairs;
  pairs.add_all(loads, reference);
  return pairs.error();
}

std::vector<TierComparison> compare_tiers(std::span<const ScoreInput> by_tier) {
  std::vector<TierComparison> comparisons;
  for (std::size_t a = 0; a < by_tier.size(); ++a) {
    for (std::size_t b = a + 1; b < by_tier.size(); ++b) {
      Pairs all;
      for (const PolicyInput& policy : by_tier[a].policies) {
        const auto same =
            std::find_if(by_tier[b].policies.begin(), by_tier[b].policies.end(),
                         [&](const PolicyInput& other) { return other.policy == policy.policy; });
        if (same == by_tier[b].policies.end()) continue;
        comparisons.push_back({policy.policy, by_tier[a].tier, by_tier[b].tier,
                               tier_error(policy.loads, same->loads)});
        all.add_all(policy.loads, same->loads);
      }
      comparisons.push_back({"", by_tier[a].tier, by_tier[b].tier, all.error()});
    }
  }
  return comparisons;
}

}  // namespace sluice
