#include "analysis/score/score.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/score/clusters.h"
#include "analysis/score/matched_loads.h"
#include "analysis/score/policy_score.h"
#include "base/names.h"

namespace sluice {
namespace {

// Below this the interval is known to be too narrow (README, Limits and validation).
constexpr std::int64_t kFewClusters = 10;

PairScore score_pair(const PolicyInput& a, const PolicyInput& b, double confidence) {
  PairScore pair;
  pair.a = a.policy;
  pair.b = b.policy;
  pair.counts = count_pairs(a, b);
  const std::int64_t n = pair.counts.pairs();
  if (n > 0) {
    pair.difference =
        static_cast<double>(pair.counts.only_a - pair.counts.only_b) / static_cast<double>(n);
  }
  pair.interval = tango_interval(pair.counts, confidence);
  pair.p_value = mcnemar_exact_p(pair.counts);
  if (n > 0 && identical(a, b)) {
    pair.interval = {0, 0};
    pair.interval_method = IntervalMethod::kIdentical;
  }
  return pair;
}

using PairIndices = std::vector<std::pair<std::size_t, std::size_t>>;

// As indices of policies: all (earlier, later), or all others against the baseline.
Result<PairIndices> choose_pairs(const std::vector<PolicyInput>& policies,
                                 const std::optional<std::string>& baseline) {
  PairIndices pairs;
  std::vector<std::string> names;
  for (const PolicyInput& policy : policies) names.push_back(policy.policy);
  const auto at = baseline ? std::find(names.begin(), names.end(), *baseline) : names.end();
  if (baseline && at == names.end()) {
    return error_in("--baseline", fmt::format("no policy `{}` among those scored", *baseline),
                    suggest_name(*baseline, names));
  }
  for (std::size_t a = 0; a < names.size(); ++a) {
    if (baseline) {
      const auto b = static_cast<std::size_t>(at - names.begin());
      if (a != b) pairs.emplace_back(a, b);
      continue;
    }
    for (std::size_t b = a + 1; b < names.size(); ++b) pairs.emplace_back(a, b);
  }
  return pairs;
}

// Widens intervals to what whole trace windows, drawn again, say.
void widen_by_clusters(const ClusterSums& sums, const PairIndices& indices, Score& score) {
  if (sums.loads.size() < 2) return;
  const ScoreOptions& options = score.options;
  const BootstrapDraws draws = bootstrap_rates(sums, options.resamples, options.seed);
  const auto widen = [&](std::vector<double> values, Interval& interval, IntervalMethod& method) {
    const Interval clustered =
        expanded_percentile_interval(std::move(values), draws.num_clusters, options.confidence);
    if (clustered.width() <= interval.width()) return;
    interval = clustered;
    method = IntervalMethod::kClusterBootstrap;
  };
  for (std::size_t p = 0; p < score.policies.size(); ++p) {
    widen(draws.rates[p], score.policies[p].violation_interval, score.policies[p].interval_method);
  }
  for (std::size_t i = 0; i < indices.size(); ++i) {
    std::vector<double> differences = draws.rates[indices[i].first];
    const auto& of_b = draws.rates[indices[i].second];
    for (std::size_t r = 0; r < differences.size(); ++r) differences[r] -= of_b[r];
    widen(std::move(differences), score.pairs[i].interval, score.pairs[i].interval_method);
  }
}

void judge_pairs(const ClusterSums& sums, const PairIndices& indices, Score& score) {
  std::vector<double> p_values;
  for (std::size_t i = 0; i < score.pairs.size(); ++i) {
    PairScore& pair = score.pairs[i];
    const auto [a, b] = indices[i];
    const bool several = sums.loads.size() > 1;
    if (several) {
      pair.p_value_clustered = clustered_t_p(sums.loads, sums.violations[a], sums.violations[b]);
    }
    p_values.push_back(several ? std::max(pair.p_value, pair.p_value_clustered) : pair.p_value);
  }
  const std::vector<double> adjusted = holm_adjusted(p_values);
  for (std::size_t i = 0; i < score.pairs.size(); ++i) {
    score.pairs[i].p_value_holm = adjusted[i];
    score.pairs[i].verdict = decide(score.pairs[i].interval, adjusted[i], score.options);
  }
}

void add_notes(std::int64_t num_loads, std::int64_t num_clusters, std::vector<std::string>& notes) {
  if (num_loads == 0) {
    notes.push_back("no loads: nothing can be said");
  } else if (num_clusters == 1 && num_loads > 1) {
    notes.push_back(
        "all loads met one trace window: intervals take them as independent, which they may not "
        "be; run more replicates");
  } else if (num_clusters < kFewClusters && num_loads > num_clusters) {
    notes.push_back(fmt::format(
        "only {} trace windows: intervals over so few are too narrow; run at least {} replicates",
        num_clusters, 2 * kFewClusters));
  }
}

}  // namespace

Result<Score> score(ScoreInput input, const ScoreOptions& options) {
  const auto indices = choose_pairs(input.policies, options.baseline);
  if (!indices) return indices.error();
  if (const auto matched = match_loads(input); !matched) return matched.error();
  const ClusterSums sums = sums_of(input);
  Score result{.scenario = input.scenario,
               .tier = input.tier,
               .scenario_sha256 = input.scenario_sha256,
               .seed = input.seed,
               .options = options,
               .policies = {},
               .pairs = {},
               .notes = input.notes};
  for (std::size_t p = 0; p < input.policies.size(); ++p) {
    result.policies.push_back(score_policy(input.policies[p], sums, p, options.confidence));
  }
  for (const auto& [a, b] : *indices) {
    result.pairs.push_back(score_pair(input.policies[a], input.policies[b], options.confidence));
  }
  widen_by_clusters(sums, *indices, result);
  judge_pairs(sums, *indices, result);
  const auto num_loads = input.policies.empty() ? 0 : input.policies.front().loads.size();
  add_notes(static_cast<std::int64_t>(num_loads), static_cast<std::int64_t>(sums.loads.size()),
            result.notes);
  return result;
}

Verdict decide(Interval difference, double adjusted_p, const ScoreOptions& options) {
  if (-options.delta <= difference.low && difference.high <= options.delta)
    return Verdict::kEquivalent;
  if (adjusted_p > 1 - options.confidence) return Verdict::kUndecided;
  if (difference.high < 0) return Verdict::kBetter;
  if (difference.low > 0) return Verdict::kWorse;
  return Verdict::kUndecided;
}

std::string to_text(Verdict verdict) {
  switch (verdict) {
    case Verdict::kBetter:
      return "better";
    case Verdict::kWorse:
      return "worse";
    case Verdict::kEquivalent:
      return "equivalent";
    case Verdict::kUndecided:
      return "undecided";
  }
  return "undecided";
}

std::string to_text(IntervalMethod method) {
  switch (method) {
    case IntervalMethod::kWilson:
      return "wilson";
    case IntervalMethod::kTango:
      return "tango";
    case IntervalMethod::kClusterBootstrap:
      return "cluster-bootstrap";
    case IntervalMethod::kIdentical:
      return "identical";
  }
  return "wilson";
}

}  // namespace sluice
