// Do the intervals and verdicts hold what they promise? Many experiments with a known truth (goal
// G15: 95 % intervals cover 93 to 97 %, an A/A comparison errs at most 5 % of the time). Seeded, so
// each figure is the same on every run.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/score/clusters.h"
#include "base/random.h"
#include "tests/analysis/score_samples.h"

namespace sluice {
namespace {

// Beta(1, b) by inversion; mean 1 / (1 + b), so violation shares differ between windows with rho =
// 1 / (2 + b).
double beta_1(RandomStream& random, double b) {
  return 1 - std::pow(random.uniform(), 1 / b);
}

struct Experiment {
  std::size_t clusters = 40, loads = 25;
  bool clustered = true;  // window shares from Beta(1, 4), else 0.2 in every window
};
constexpr double kTruth = 0.2;

Outcomes draw(RandomStream& random, const Experiment& experiment) {
  Outcomes outcomes(experiment.clusters);
  for (auto& window : outcomes) {
    const double share = experiment.clustered ? beta_1(random, 4) : kTruth;
    for (std::size_t i = 0; i < experiment.loads; ++i) window.push_back(random.bernoulli(share));
  }
  return outcomes;
}

struct Coverage {
  double published = 0, wilson = 0;  // shares of the experiments whose interval holds the truth
};

Coverage coverage_of(const Experiment& experiment, int repeats) {
  RandomStream random(20261129, "coverage", experiment.clusters);
  int published = 0, wilson = 0;
  for (int i = 0; i < repeats; ++i) {
    const auto scored =
        score(input_of({policy_with("a", draw(random, experiment))}), {.resamples = 2000});
    const PolicyScore& policy = scored->policies[0];
    published += policy.violation_interval.contains(kTruth);
    wilson += wilson_interval(policy.violations, policy.loads, 0.95).contains(kTruth);
  }
  const double all = repeats;
  return {published / all, wilson / all};
}

TEST(Coverage, Of40DependentWindowsIsWithin93To97PercentWhereWilsonAloneFails) {
  const Coverage coverage = coverage_of({.clusters = 40, .loads = 25}, 1000);
  RecordProperty("coverage", std::to_string(coverage.published));
  EXPECT_GE(coverage.published, 0.93);
  EXPECT_LE(coverage.published, 0.97);
  EXPECT_LT(coverage.wilson, 0.75);
}

TEST(Coverage, Of40IndependentWindowsIsWithin93To98Percent) {
  // The wider of two good intervals: a little more than 95 %.
  const Coverage coverage = coverage_of({.clusters = 40, .loads = 25, .clustered = false}, 1000);
  RecordProperty("coverage", std::to_string(coverage.published));
  EXPECT_GE(coverage.published, 0.93);
  EXPECT_LE(coverage.published, 0.98);
}

TEST(Coverage, Of10WindowsStaysAbove90Percent) {
  const Coverage coverage = coverage_of({.clusters = 10, .loads = 25}, 1000);
  RecordProperty("coverage", std::to_string(coverage.published));
  EXPECT_GE(coverage.published, 0.90);
}

// How policies of one true violation rate come to differ by chance.
enum class Noise {
  kPerLoad,    // same windows, a coin per load and policy
  kPerWindow,  // each policy has good and bad windows of its own: McNemar alone would be fooled
};

double share_decided(Noise noise, double extra, Verdict wrong_a, Verdict wrong_b, int repeats) {
  RandomStream random(20261129, "a-against-a", static_cast<std::uint64_t>(noise));
  int wrong = 0;
  for (int i = 0; i < repeats; ++i) {
    Outcomes a(40), b(40);
    for (std::size_t k = 0; k < a.size(); ++k) {
      const double share_a = beta_1(random, 4);
      const double share_b = noise == Noise::kPerLoad ? share_a : beta_1(random, 4);
      for (int load = 0; load < 25; ++load) {
        a[k].push_back(random.bernoulli(share_a));
        b[k].push_back(random.bernoulli(share_b) || random.bernoulli(extra));
      }
    }
    const auto scored =
        score(input_of({policy_with("a", a), policy_with("b", b)}), {.resamples = 2000});
    const Verdict verdict = scored->pairs[0].verdict;
    wrong += verdict == wrong_a || verdict == wrong_b;
  }
  return static_cast<double>(wrong) / repeats;
}

TEST(FalseAlarms, OfEqualPoliciesAreAtMost5Percent) {
  for (const Noise noise : {Noise::kPerLoad, Noise::kPerWindow}) {
    const double share = share_decided(noise, 0, Verdict::kBetter, Verdict::kWorse, 800);
    RecordProperty(noise == Noise::kPerLoad ? "per_load" : "per_window", std::to_string(share));
    EXPECT_LE(share, 0.05) << static_cast<int>(noise);
  }
}

TEST(FalseAlarms, PoliciesFivePointsApartAreNeverCalledEquivalentAndTheWorseNeverBetter) {
  // b violates in 6.25 % of the loads that a manages (80 % of all): 5 points more.
  EXPECT_EQ(share_decided(Noise::kPerLoad, 0.0625, Verdict::kEquivalent, Verdict::kWorse, 400), 0);
}

TEST(Power, FivePointsApartOver1000PairedLoadsIsFoundMostOfTheTime) {
  EXPECT_GE(share_decided(Noise::kPerLoad, 0.0625, Verdict::kBetter, Verdict::kBetter, 400), 0.5);
}

TEST(Bootstrap, SameSeedSameDrawsAndPoliciesShareThem) {
  const ClusterSums sums{.loads = {2, 2, 2}, .violations = {{0, 1, 2}, {0, 1, 2}}};
  const BootstrapDraws draws = bootstrap_rates(sums, 100, 7);
  EXPECT_EQ(draws.rates[0], draws.rates[1]);
  EXPECT_EQ(draws.rates[0], bootstrap_rates(sums, 100, 7).rates[0]);
  EXPECT_NE(draws.rates[0], bootstrap_rates(sums, 100, 8).rates[0]);
}

TEST(Bootstrap, LargerWindowsWeighMore) {
  // One window of 9 loads, all violated, and one of 1 load, not: drawn together the rate is 9 / 10,
  // alone 1 or 0.
  const BootstrapDraws draws = bootstrap_rates({.loads = {9, 1}, .violations = {{9, 0}}}, 4000, 1);
  const auto share_of = [&](double rate) {
    return static_cast<double>(std::count(draws.rates[0].begin(), draws.rates[0].end(), rate)) /
           4000;
  };
  EXPECT_NEAR(share_of(0.9), 0.5, 0.03);
  EXPECT_NEAR(share_of(1.0), 0.25, 0.03);
  EXPECT_NEAR(share_of(0.0), 0.25, 0.03);
}

TEST(Bootstrap, FewClustersMoveThePercentilesOutwards) {
  std::vector<double> draws;
  for (int i = 0; i < 10'000; ++i) draws.push_back(i / 10'000.0);
  // Many clusters: the plain 2.5 % and 97.5 % points.
  EXPECT_NEAR(expanded_percentile_interval(draws, 100'000, 0.95).low, 0.025, 2e-4);
  EXPECT_NEAR(expanded_percentile_interval(draws, 100'000, 0.95).high, 0.975, 2e-4);
  // Five: sqrt(5/4) t(4) = 1.118 x 2.776 = 3.104 standard errors, a tail of 0.00095.
  EXPECT_NEAR(expanded_percentile_interval(draws, 5, 0.95).low, 0.0009, 1e-9);
}

TEST(DesignEffect, TwoOppositeWindowsOfTenLoads) {
  // Variance over windows: 2/1 x (25 + 25) / 400 = 0.25; of 20 independent loads: 0.25 / 20.
  // Ratio 20.
  EXPECT_DOUBLE_EQ(
      *design_effect(std::vector<std::int64_t>{10, 10}, std::vector<std::int64_t>{10, 0}), 20);
  EXPECT_EQ(design_effect(std::vector<std::int64_t>{10, 10}, std::vector<std::int64_t>{0, 0}),
            std::nullopt);
  EXPECT_EQ(design_effect(std::vector<std::int64_t>{10}, std::vector<std::int64_t>{5}),
            std::nullopt);
}

TEST(ClusteredT, IsStudentsTOverTheWindows) {
  // Differences 3, 1, 2 of 10 loads each: mean 2, variance 1, t = 2 / sqrt(1/3) = 3.464 with 2
  // degrees of freedom.
  const std::vector<std::int64_t> loads{10, 10, 10}, a{3, 1, 2}, b{0, 0, 0};
  EXPECT_NEAR(clustered_t_p(loads, a, b), 0.0742, 5e-5);
  EXPECT_EQ(clustered_t_p(loads, a, a), 1);
  EXPECT_EQ(clustered_t_p(loads, loads, b), 0);  // ten in every window
}

}  // namespace
}  // namespace sluice
