// Shares and paired shares: against published values, against their definition, and by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "analysis/score/interval.h"

namespace sluice {
namespace {

constexpr double kZ = 1.959963984540054;  // normal quantile at 0.975

TEST(Wilson, AgreesWithNewcombesTable) {
  // Newcombe, Statistics in Medicine 17, 1998, p. 857, table I, method 3.
  struct Row {
    std::int64_t successes, trials;
    double low, high;
  };
  for (const Row& row : {Row{81, 263, 0.2553, 0.3662}, Row{15, 148, 0.0624, 0.1605},
                         Row{0, 20, 0.0000, 0.1611}, Row{1, 29, 0.0061, 0.1718}}) {
    const Interval interval = wilson_interval(row.successes, row.trials, 0.95);
    EXPECT_NEAR(interval.low, row.low, 5e-5) << row.successes << "/" << row.trials;
    EXPECT_NEAR(interval.high, row.high, 5e-5) << row.successes << "/" << row.trials;
  }
}

TEST(Wilson, TwentyViolationsIn250LoadsAre5To12Percent) {
  const Interval interval = wilson_interval(20, 250, 0.95);
  EXPECT_NEAR(interval.low, 0.0524, 5e-5);
  EXPECT_NEAR(interval.high, 0.1203, 5e-5);
  EXPECT_NEAR(interval.width() / 2, 0.034, 5e-4);  // the 3.4 points of network-facts, section 7
}

TEST(Wilson, EachLimitIsWhereTheObservedShareIsJustNotRejected) {
  // The definition: |observed - p| = z sqrt(p (1 - p) / n).
  for (const std::int64_t v : {1, 50, 137, 199}) {
    const Interval interval = wilson_interval(v, 200, 0.95);
    for (const double p : {interval.low, interval.high}) {
      EXPECT_NEAR(std::abs(static_cast<double>(v) / 200 - p), kZ * std::sqrt(p * (1 - p) / 200),
                  1e-12);
    }
  }
}

TEST(Wilson, NoneAndAllKeepAWidthAndNothingIsAnything) {
  const double reach = kZ * kZ / (10 + kZ * kZ);  // 0.2775
  EXPECT_EQ(wilson_interval(0, 10, 0.95).low, 0);
  EXPECT_NEAR(wilson_interval(0, 10, 0.95).high, reach, 1e-12);
  EXPECT_NEAR(wilson_interval(10, 10, 0.95).low, 1 - reach, 1e-12);
  EXPECT_EQ(wilson_interval(10, 10, 0.95).high, 1);
  EXPECT_EQ(wilson_interval(0, 0, 0.95).low, 0);
  EXPECT_EQ(wilson_interval(0, 0, 0.95).high, 1);
}

TEST(Tango, AgreesWithAPublishedExample) {
  // Airway hyper-responsiveness, 21 pairs, discordant 1 and 7: Fagerland, Lydersen and Laake,
  // Statistics in Medicine 33, 2014, p. 2850, table V.
  const Interval interval =
      tango_interval({.both = 1, .only_a = 1, .only_b = 7, .neither = 12}, 0.95);
  EXPECT_NEAR(interval.low, -0.517, 5e-4);
  EXPECT_NEAR(interval.high, -0.026, 5e-4);
}

TEST(Tango, TurnsAroundWithThePolicies) {
  const Interval ab = tango_interval({.both = 5, .only_a = 9, .only_b = 2, .neither = 84}, 0.95);
  const Interval ba = tango_interval({.both = 5, .only_a = 2, .only_b = 9, .neither = 84}, 0.95);
  EXPECT_NEAR(ab.low, -ba.high, 1e-12);
  EXPECT_NEAR(ab.high, -ba.low, 1e-12);
}

TEST(Tango, AgreementInEveryLoadStillLeavesAWidth) {
  const Interval interval = tango_interval({.both = 10, .neither = 90}, 0.95);
  const double reach = kZ * kZ / (100 + kZ * kZ);  // 0.037
  EXPECT_NEAR(interval.low, -reach, 1e-9);
  EXPECT_NEAR(interval.high, reach, 1e-9);
}

TEST(Tango, FullDisagreementReachesTheEnd) {
  const Interval interval = tango_interval({.only_a = 50}, 0.95);
  EXPECT_NEAR(interval.high, 1, 1e-9);
  EXPECT_GT(interval.low, 0.8);
  EXPECT_EQ(tango_interval({}, 0.95).low, -1);
  EXPECT_EQ(tango_interval({}, 0.95).high, 1);
}

TEST(McNemar, OneAgainstNineIs22In1024) {
  // 2 (C(10,0) + C(10,1)) / 2^10
  EXPECT_NEAR(mcnemar_exact_p({.both = 40, .only_a = 1, .only_b = 9, .neither = 50}), 22.0 / 1024,
              1e-12);
  EXPECT_NEAR(mcnemar_exact_p({.both = 40, .only_a = 9, .only_b = 1, .neither = 50}), 22.0 / 1024,
              1e-12);
}

TEST(McNemar, EvenOrNoDiscordanceIsNoEvidence) {
  EXPECT_EQ(mcnemar_exact_p({.only_a = 3, .only_b = 3}), 1);
  EXPECT_EQ(mcnemar_exact_p({.both = 10, .neither = 10}), 1);
  EXPECT_NEAR(mcnemar_exact_p({.only_a = 5}), 2.0 / 32, 1e-12);
}

TEST(Holm, MultipliesBySizeThenLessAndNeverFalls) {
  // Sorted: 0.005 x 4, 0.01 x 3, 0.03 x 2, 0.04 x 1 (raised to 0.06).
  EXPECT_THAT(holm_adjusted(std::vector<double>{0.01, 0.04, 0.03, 0.005}),
              testing::Pointwise(testing::DoubleEq(), {0.03, 0.06, 0.06, 0.02}));
  EXPECT_THAT(holm_adjusted(std::vector<double>{0.7, 0.6}), testing::ElementsAre(1.0, 1.0));
  EXPECT_THAT(holm_adjusted(std::vector<double>{0.03}), testing::ElementsAre(0.03));
  EXPECT_TRUE(holm_adjusted({}).empty());
}

TEST(Quantiles, AreThoseOfTheTables) {
  EXPECT_NEAR(normal_quantile(0.975), kZ, 1e-12);
  EXPECT_NEAR(normal_cdf(-kZ), 0.025, 1e-12);
  EXPECT_NEAR(students_t_quantile(0.975, 1), 12.706, 5e-4);
  EXPECT_NEAR(students_t_quantile(0.975, 9), 2.262, 5e-4);
}

}  // namespace
}  // namespace sluice
