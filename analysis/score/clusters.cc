#include "analysis/score/clusters.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/assert.h"
#include "base/random.h"

namespace sluice {
namespace {

// How often each cluster is drawn in one resample of as many draws as there are clusters.
void draw_multiplicities(RandomStream& random, std::vector<std::int32_t>& times_drawn) {
  std::fill(times_drawn.begin(), times_drawn.end(), 0);
  for (std::size_t draw = 0; draw < times_drawn.size(); ++draw) {
    ++times_drawn[random.below(times_drawn.size())];
  }
}

std::int64_t weighted_sum(const std::vector<std::int32_t>& weights,
                          const std::vector<std::int64_t>& values) {
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) sum += weights[k] * values[k];
  return sum;
}

double sum_of(std::span<const std::int64_t> values) {
  return static_cast<double>(std::accumulate(values.begin(), values.end(), std::int64_t{0}));
}

// Of sum(values) / sum(loads) over at least two clusters.
double clustered_variance(std::span<const std::int64_t> loads,
                          std::span<const std::int64_t> values) {
  const auto clusters = static_cast<double>(loads.size());
  const double n = sum_of(loads);
  const double ratio = sum_of(values) / n;
  double squares = 0;
  for (std::size_t k = 0; k < loads.size(); ++k) {
    const double excess = static_cast<double>(values[k]) - ratio * static_cast<double>(loads[k]);
    squares += excess * excess;
  }
  return clusters / (clusters - 1) * squares / (n * n);
}

}  // namespace

BootstrapDraws bootstrap_rates(const ClusterSums& sums, std::int64_t resamples,
                               std::uint64_t seed) {
  SLUICE_ASSERT(sums.loads.size() >= 2, "a bootstrap over clusters needs at least two");
  SLUICE_ASSERT(resamples > 0, "a bootstrap needs at least one resample");
  RandomStream random(seed, "score-bootstrap", 0);
  std::vector<std::int32_t> times_drawn(sums.loads.size());
  BootstrapDraws draws;
  draws.num_clusters = static_cast<std::int64_t>(sums.loads.size());
  draws.rates.resize(sums.violations.size());
  for (auto& rates : draws.rates) rates.reserve(static_cast<std::size_t>(resamples));
  for (std::int64_t r = 0; r < resamples; ++r) {
    draw_multiplicities(random, times_drawn);
    const auto loads = static_cast<double>(weighted_sum(times_drawn, sums.loads));
    for (std::size_t p = 0; p < sums.violations.size(); ++p) {
      draws.rates[p].push_back(static_cast<double>(weighted_sum(times_drawn, sums.violations[p])) /
                               loads);
    }
  }
  return draws;
}

Interval expanded_percentile_interval(std::vector<double> draws, std::int64_t num_clusters,
                                      double confidence) {
  SLUICE_ASSERT(num_clusters >= 2 && !draws.empty(),
                "an interval needs two clusters and some draws");
  const auto clusters = static_cast<double>(num_clusters);
  const double reach = std::sqrt(clusters / (clusters - 1)) *
                       students_t_quantile(0.5 + confidence / 2, num_clusters - 1);
  const double tail = normal_cdf(-reach);
  // Outwards: the rank below the lower percentile and its mirror image.
  const auto rank = static_cast<std::size_t>(
      std::max(0.0, std::ceil(tail * static_cast<double>(draws.size())) - 1));
  std::sort(draws.begin(), draws.end());
  return {draws[rank], draws[draws.size() - 1 - rank]};
}

std::optional<double> design_effect(std::span<const std::int64_t> loads,
                                    std::span<const std::int64_t> violations) {
  SLUICE_ASSERT(loads.size() == violations.size(), "one count of violations per cluster");
  const double n = sum_of(loads), v = sum_of(violations);
  if (loads.size() < 2 || v == 0 || v == n) return std::nullopt;
  const double variance_independent = v / n * (1 - v / n) / n;
  return clustered_variance(loads, violations) / variance_independent;
}

double clustered_t_p(std::span<const std::int64_t> loads,
                     std::span<const std::int64_t> violations_a,
                     std::span<const std::int64_t> violations_b) {
  SLUICE_ASSERT(loads.size() == violations_a.size() && loads.size() == violations_b.size(),
                "one count of violations per cluster and policy");
  std::vector<std::int64_t> differences;
  for (std::size_t k = 0; k < loads.size(); ++k)
    differences.push_back(violations_a[k] - violations_b[k]);
  const double difference = sum_of(differences);
  if (loads.size() < 2 || difference == 0) return 1;
  const double variance = clustered_variance(loads, differences);
  if (variance == 0) return 0;  // the same difference in every window
  const double t = difference / sum_of(loads) / std::sqrt(variance);
  return 2 * students_t_cdf(-std::abs(t), static_cast<std::int64_t>(loads.size()) - 1);
}

}  // namespace sluice
