// What dependence within trace windows does to rates: the bootstrap over windows, the design
// effect, a t test.
// Where in the flow: step 6. Loads of one window met the same link, so the window is the unit, not
// the load.
// Surprise: one set of draws serves all policies (each saw the same windows), so a pair's
// difference is drawn by subtracting two columns; only per-cluster sums are touched, which is exact
// because a rate is a ratio of sums.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/score/interval.h"

namespace sluice {

// What each cluster adds to the rates. All vectors are [cluster]; every policy met the same loads.
struct ClusterSums {
  std::vector<std::int64_t> loads;
  std::vector<std::vector<std::int64_t>> violations;  // [policy][cluster]
};

struct BootstrapDraws {
  std::int64_t num_clusters = 0;
  // [policy][resample]; rates of one resample belong together.
  std::vector<std::vector<double>> rates;
};

// Needs at least two clusters (one would be drawn for ever) and at least one load in each. Same
// seed, same draws.
[[nodiscard]] BootstrapDraws bootstrap_rates(const ClusterSums& sums, std::int64_t resamples,
                                             std::uint64_t seed);

// The expanded percentile interval (Efron, Annals of Statistics 7, 1979; Hesterberg, American
// Statistician 69, 2015, p. 371): percentiles moved outwards by sqrt(K / (K - 1)) and Student's t
// with K - 1 degrees of freedom, because plain ones are too narrow for few clusters.
[[nodiscard]] Interval expanded_percentile_interval(std::vector<double> draws,
                                                    std::int64_t num_clusters, double confidence);

// Kish's design effect: the rate's variance over clusters (that of a ratio of two sums, linearised)
// over its variance were all loads independent; about 1 + (m - 1) rho. Absent below two clusters
// and when all or none violate.
[[nodiscard]] std::optional<double> design_effect(std::span<const std::int64_t> loads,
                                                  std::span<const std::int64_t> violations);

// Two-sided p of "two policies violate equally often", from the spread over clusters: their rates'
// difference over its clustered standard error, against Student's t with K - 1 degrees of freedom
// (Donner and Klar 2000, chapter 6). 1 below two clusters.
[[nodiscard]] double clustered_t_p(std::span<const std::int64_t> loads,
                                   std::span<const std::int64_t> violations_a,
                                   std::span<const std::int64_t> violations_b);

}  // namespace sluice
