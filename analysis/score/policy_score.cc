#include "analysis/score/policy_score.h"

#include <algorithm>
#include <cmath>

namespace sluice {
namespace {

// The ceil(q n)-th smallest of `sorted`, where the loads that are missing from it never finished.
std::optional<Duration> ttft_quantile(const std::vector<Duration>& sorted, std::size_t num_loads,
                                      double q) {
  if (num_loads == 0) return std::nullopt;
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(num_loads)));
  if (rank > sorted.size()) return std::nullopt;
  return sorted[rank - 1];
}

void add_ttft(const PolicyInput& input, PolicyScore& score) {
  std::vector<Duration> finished;
  for (const ScoredLoad& load : input.loads) {
    if (load.ttft) finished.push_back(*load.ttft);
  }
  std::sort(finished.begin(), finished.end());
  score.unfinished = static_cast<std::int64_t>(input.loads.size() - finished.size());
  score.ttft_p50 = ttft_quantile(finished, input.loads.size(), 0.50);
  score.ttft_p95 = ttft_quantile(finished, input.loads.size(), 0.95);
}

void add_cost_and_quality(const PolicyInput& input, PolicyScore& score) {
  double bytes = 0, quality = 0, tokens = 0, recomputed = 0;
  std::int64_t judged = 0;
  for (const ScoredLoad& load : input.loads) {
    bytes += static_cast<double>(load.bytes_moved.bytes());
    tokens += static_cast<double>(load.tokens);
    recomputed += static_cast<double>(load.recomputed_tokens);
    if (load.quality) {
      quality += *load.quality;
      ++judged;
    }
    score.peak_memory = std::max(score.peak_memory.value_or(DataSize::zero()), load.peak_memory);
  }
  if (!input.loads.empty())
    score.bytes_per_load_mean = bytes / static_cast<double>(input.loads.size());
  if (judged > 0) score.quality_mean = quality / static_cast<double>(judged);
  if (tokens > 0) score.recomputed_fraction = recomputed / tokens;
  double all_tokens = 0;
  for (const auto& [level, count] : input.tokens_by_level) all_tokens += static_cast<double>(count);
  for (const auto& [level, count] : input.tokens_by_level) {
    if (count > 0) score.level_fractions[level] = static_cast<double>(count) / all_tokens;
  }
}

void add_runs(const PolicyInput& input, PolicyScore& score) {
  double seconds = 0, busy_seconds = 0, utilised_seconds = 0;
  for (const ScoredRun& run : input.runs) {
    seconds += to_seconds(run.simulated_time);
    busy_seconds += run.gpu_busy_fraction * to_seconds(run.simulated_time);
    utilised_seconds += run.link_utilisation * to_seconds(run.simulated_time);
    score.stored_per_context =
        std::max(score.stored_per_context.value_or(DataSize::zero()), run.stored_per_context);
  }
  if (seconds <= 0) return;
  score.gpu_busy_fraction = busy_seconds / seconds;
  score.link_utilisation = utilised_seconds / seconds;
}

}  // namespace

PolicyScore score_policy(const PolicyInput& input, const ClusterSums& sums, std::size_t index,
                         double confidence) {
  PolicyScore score;
  score.policy = input.policy;
  score.profile = input.profile;
  score.loads = static_cast<std::int64_t>(input.loads.size());
  score.clusters = static_cast<std::int64_t>(sums.loads.size());
  for (const std::int64_t v : sums.violations[index]) score.violations += v;
  if (score.loads > 0) {
    score.violation_rate = static_cast<double>(score.violations) / static_cast<double>(score.loads);
  }
  score.violation_interval = wilson_interval(score.violations, score.loads, confidence);
  score.design_effect = design_effect(sums.loads, sums.violations[index]);
  add_ttft(input, score);
  add_cost_and_quality(input, score);
  add_runs(input, score);
  return score;
}

}  // namespace sluice
