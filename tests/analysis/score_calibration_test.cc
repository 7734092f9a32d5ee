// Do the intervals and verdicts hold what they promise? Many experiments with a known truth (goal
// G15: 95 % intervals cover 93 to 97 %, an A/A comparison errs at most 5 % of the time). Seeded, so
// each figure is the same on every run; `score_calibration` prints more cases with more repeats.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/score/clusters.h"
#include "tests/analysis/score_simulation.h"

namespace sluice {
namespace {

TEST(Coverage, Of40DependentWindowsIsWithin93To97PercentWhereWilsonAloneFails) {
  const Coverage coverage = coverage_of({.clusters = 40, .loads = 25}, 1000);
  EXPECT_GE(coverage.published, 0.93);
  EXPECT_LE(coverage.published, 0.97);
  EXPECT_LT(coverage.wilson, 0.75);
}

TEST(Coverage, Of40IndependentWindowsIsWithin93To98Percent) {
  // The wider of two good intervals: a little more than 95 %.
  const Coverage coverage = coverage_of({.clusters = 40, .loads = 25, .dependent = false}, 1000);
  EXPECT_GE(coverage.published, 0.93);
  EXPECT_LE(coverage.published, 0.98);
}

TEST(Coverage, Of10WindowsStaysAbove90Percent) {
  EXPECT_GE(coverage_of({.clusters = 10, .loads = 25}, 1000).published, 0.90);
}

TEST(FalseAlarms, OfEqualPoliciesAreAtMost5Percent) {
  for (const Noise noise : {Noise::kPerLoad, Noise::kPerWindow}) {
    const Verdicts verdicts = verdicts_of(noise, 0, 40, 800);
    EXPECT_LE(verdicts.better + verdicts.worse, 0.05) << static_cast<int>(noise);
  }
}

TEST(FalseAlarms, OfAllPairsOfFiveEqualPoliciesTogetherAreAtMost5Percent) {
  EXPECT_LE(family_false_alarms(Noise::kPerLoad, 5, 40, 200), 0.05);
  EXPECT_LE(family_false_alarms(Noise::kPerWindow, 5, 40, 200), 0.05);
}

TEST(Verdicts, FivePointsApartOver1000PairedLoadsAreFoundAndNeverMistaken) {
  // b violates in 6.25 % of the loads that it would manage (80 % of all): 5 points more, so a is
  // the better one.
  const Verdicts verdicts = verdicts_of(Noise::kPerLoad, 0.0625, 40, 400);
  EXPECT_GE(verdicts.better, 0.5);
  EXPECT_EQ(verdicts.worse, 0);
  EXPECT_EQ(verdicts.equivalent, 0);
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
