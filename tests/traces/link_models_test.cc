// Sawtooth, on-off, Ornstein-Uhlenbeck, quantiles and mmWave links: by head where they are exact,
// against their law where they are random, at about four standard errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/traces/generator_helpers.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using testing::correlation;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made;
using testing::mbit;
using testing::mean_mbit;
using testing::mean_of;
using testing::mean_seconds;
using testing::means_mbit;
using testing::refusal;
using testing::stays;
using testing::variation;

using Shape = SawtoothSpec::Shape;

TEST(Sawtooth, ThreeStepsRiseAndFallBack) {
  const LinkTrace trace = made(SawtoothSpec{mbit(100), mbit(500), 6s, 3, Shape::kRise}, 9s);
  EXPECT_THAT(trace.steps,
              ElementsAre(RateStep{0s, mbit(100)}, RateStep{2s, mbit(300)}, RateStep{4s, mbit(500)},
                          RateStep{6s, mbit(100)}, RateStep{8s, mbit(300)}));
  EXPECT_EQ(trace.length, 9s);
}

TEST(Sawtooth, FallingBeginsAtTheTop) {
  const LinkTrace trace = made(SawtoothSpec{mbit(100), mbit(500), 6s, 3, Shape::kFall}, 6s);
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(500)}, RateStep{2s, mbit(300)},
                                       RateStep{4s, mbit(100)}));
}

TEST(Sawtooth, ATriangleGoesUpAndDownInOnePeriod) {
  const LinkTrace trace = made(SawtoothSpec{mbit(100), mbit(500), 6s, 6, Shape::kTriangle}, 12s);
  EXPECT_THAT(
      trace.steps,
      ElementsAre(RateStep{0s, mbit(100)}, RateStep{1s, mbit(300)}, RateStep{2s, mbit(500)},
                  RateStep{4s, mbit(300)}, RateStep{5s, mbit(100)}, RateStep{7s, mbit(300)},
                  RateStep{8s, mbit(500)}, RateStep{10s, mbit(300)}, RateStep{11s, mbit(100)}));
}

TEST(Sawtooth, WhateverTheShapeTheMeanIsThatOfLowAndHigh) {
  for (const Shape shape : {Shape::kRise, Shape::kFall, Shape::kTriangle}) {
    EXPECT_EQ(summarise(made(SawtoothSpec{mbit(100), mbit(1000), 20s, 40, shape}, 60s)).mean,
              mbit(550));
  }
}

TEST(Sawtooth, APeriodThatDoesNotDivideEvenlyDoesNotDrift) {
  const LinkTrace trace = made(SawtoothSpec{mbit(1), mbit(3), 10ns, 3, Shape::kRise}, 1000ns);
  EXPECT_EQ(trace.steps[1].start, 3ns);
  EXPECT_EQ(trace.steps[2].start, 6ns);
  EXPECT_EQ(trace.steps[3].start, 10ns);
  EXPECT_EQ(trace.steps[297].start, 990ns);
}

TEST(OnOff, FixedTimesRepeatFromARandomPhase) {
  const OnOffSpec spec{mbit(1000), 9s, DwellLaw::kFixed, DataRate::zero(), 1s, DwellLaw::kFixed};
  bool phases_differ = false;
  for (std::uint64_t replicate = 0; replicate < 20; ++replicate) {
    const LinkTrace trace = made(spec, 100s, 1, replicate);
    EXPECT_THAT(stays(trace, mbit(1000)), Each(9s));
    EXPECT_THAT(stays(trace, DataRate::zero()), Each(1s));
    EXPECT_NEAR(mean_mbit(trace), 900, 1e-6);  // ten whole periods, whatever the phase
    phases_differ = phases_differ || trace.steps[1].start != made(spec, 100s).steps[1].start;
  }
  EXPECT_TRUE(phases_differ);
}

TEST(OnOff, OutagesOfOneSecondComeAtRandom) {
  const OnOffSpec spec{mbit(1000),       30s, DwellLaw::kExponential,
                       DataRate::zero(), 1s,  DwellLaw::kFixed};
  const LinkTrace trace = made(spec, 310'000s);
  EXPECT_THAT(stays(trace, DataRate::zero()), Each(1s));
  const std::vector<Duration> between = stays(trace, mbit(1000));
  EXPECT_NEAR(static_cast<double>(between.size()), 10'000, 400);  // standard error 97
  EXPECT_NEAR(mean_seconds(between), 30, 1.2);                    // standard error 0.3
  const auto longer =
      std::count_if(between.begin(), between.end(), [](Duration d) { return d > 60s; });
  EXPECT_NEAR(static_cast<double>(longer) / static_cast<double>(between.size()), std::exp(-2.0),
              0.014);  // standard error 0.0034
}

TEST(OnOff, TheFirstInstantFollowsTheShareOfTime) {
  const OnOffSpec spec{mbit(1000), 3s, DwellLaw::kExponential, mbit(10), 1s, DwellLaw::kFixed};
  int num_on = 0;
  for (std::uint64_t replicate = 0; replicate < 4000; ++replicate)
    num_on += made(spec, 1s, 1, replicate).steps.front().rate == mbit(1000) ? 1 : 0;
  EXPECT_NEAR(num_on / 4000.0, 0.75, 0.027);  // standard error 0.0068
}

OuSpec ou(double variation, Duration step) {
  return {mbit(1000), variation, 5s, step, DataRate::zero(), kMaxLinkRate};
}

TEST(Ou, MeanAndVariationAreThoseAskedFor) {
  for (const double asked : {0.2, 0.5, 0.9}) {
    const LinkTrace trace = made(ou(asked, 1s), 1'000'000s);
    // 100 000 independent stretches of two time constants: standard errors asked/316 of the mean,
    // and a few parts in a thousand of the variation.
    EXPECT_NEAR(mean_mbit(trace), 1000, 1000 * asked / 316 * 4);
    EXPECT_NEAR(RateDistribution(trace).coefficient_of_variation(), asked, 0.025 * asked);
    EXPECT_NEAR(RateDistribution(trace).quantile(0.5).megabits_per_sec(),
                1000 / std::sqrt(1 + asked * asked), 12);  // the median of a lognormal law
  }
}

TEST(Ou, TheLogarithmForgetsWithTheTimeConstantWhateverTheStep) {
  for (const Duration step : {500ms, 1000ms, 5000ms}) {
    std::vector<double> logarithms = means_mbit(made(ou(0.9, step), step * 200'000), step);
    for (double& value : logarithms) value = std::log(value);
    const auto lag = static_cast<std::size_t>(5s / step);
    EXPECT_NEAR(correlation(logarithms, lag), std::exp(-1.0), 0.03) << to_text(step);
    EXPECT_NEAR(correlation(logarithms, 2 * lag), std::exp(-2.0), 0.03) << to_text(step);
  }
}

TEST(Ou, TheFirstRateFollowsTheStationaryLaw) {
  std::vector<double> first;
  for (std::uint64_t replicate = 0; replicate < 10'000; ++replicate)
    first.push_back(made(ou(0.5, 1s), 1s, 1, replicate).steps.front().rate.megabits_per_sec());
  EXPECT_NEAR(mean_of(first), 1000, 20);  // standard error 5
  EXPECT_NEAR(variation(first), 0.5, 0.03);
}

TEST(Ou, FloorAndCeilingClip) {
  OuSpec spec = ou(0.9, 100ms);
  spec.floor = mbit(500);
  spec.ceiling = mbit(1500);
  const TraceSummary s = summarise(made(spec, 1000s));
  EXPECT_EQ(s.min, mbit(500));
  EXPECT_EQ(s.max, mbit(1500));
}

// Every rate from 0 to 1 Gbit/s equally often.
const QuantilesSpec kEven{{{0, DataRate::zero()}, {1, mbit(1000)}}, 10s, 1s};
// 5 % outage, half of the time below 200 Mbit/s.
const QuantilesSpec kSkewed{
    {{0, DataRate::zero()}, {0.05, DataRate::zero()}, {0.5, mbit(200)}, {1, mbit(2000)}}, 10s, 1s};

TEST(Quantiles, TheRateHasTheSharesOfItsPoints) {
  // 50 000 independent stretches of two time constants: standard error of a share at most 0.0022.
  const LinkTrace trace = made(kSkewed, 1'000'000s);
  const RateDistribution distribution(trace);
  EXPECT_NEAR(distribution.zero_fraction(), 0.05, 0.009);
  EXPECT_NEAR(distribution.quantile(0.275).megabits_per_sec(), 100, 5);  // half way to 0.5
  EXPECT_NEAR(distribution.quantile(0.5).megabits_per_sec(), 200, 35);
  EXPECT_NEAR(distribution.quantile(0.75).megabits_per_sec(), 1100, 35);
  EXPECT_EQ(summarise(trace).max <= mbit(2000), true);
  // 0.45 * 100 + 0.5 * 1100 Mbit/s; standard error 2.8.
  EXPECT_NEAR(mean_mbit(trace), 595, 12);
}

TEST(Quantiles, AnEvenRateHasTheRankCorrelationOfTheNormalLaw) {
  // Of normal values with correlation r, the uniform scores have 6/pi asin(r/2).
  const std::vector<double> rates = means_mbit(made(kEven, 500'000s), 1s);
  for (const std::size_t lag : {1U, 10U, 20U}) {
    const double r = std::exp(-static_cast<double>(lag) / 10);
    EXPECT_NEAR(correlation(rates, lag), 6 / std::numbers::pi * std::asin(r / 2), 0.02) << lag;
  }
}

TEST(Quantiles, AShorterStepFluctuatesAtTheSamePace) {
  QuantilesSpec spec = kEven;
  spec.step = 100ms;
  const std::vector<double> rates = means_mbit(made(spec, 200'000s), 100ms);
  EXPECT_NEAR(correlation(rates, 100), 6 / std::numbers::pi * std::asin(std::exp(-1.0) / 2), 0.03);
}

// 1 Gbit/s, or 20 Mbit/s when blocked; nothing else varies.
MmwaveSpec bare(Duration clear, Duration blocked, Duration ramp) {
  MmwaveSpec spec;
  spec.line_of_sight = spec.peak = mbit(1000);
  spec.shadowing = DataRate::zero();
  spec.blocked = mbit(20);
  spec.clear_time = clear;
  spec.blocked_time = blocked;
  spec.fall_time = spec.rise_time = ramp;
  return spec;
}

TEST(Mmwave, BlockagesTakeTheirShareOfTheTime) {
  const LinkTrace trace = made(bare(9s, 1s, 0s), 100'000s);
  for (const RateStep& step : trace.steps)
    ASSERT_TRUE(step.rate == mbit(1000) || step.rate == mbit(20));
  // 0.9 * 1000 + 0.1 * 20 Mbit/s; standard error 1.3.
  EXPECT_NEAR(mean_mbit(trace), 902, 6);
  EXPECT_NEAR(mean_seconds(stays(trace, mbit(20))), 1, 0.05);   // standard error 0.01
  EXPECT_NEAR(mean_seconds(stays(trace, mbit(1000))), 9, 0.4);  // standard error 0.09
}

TEST(Mmwave, RampsAreStraightLines) {
  const LinkTrace trace = made(bare(8s, 2s, 1s), 100'000s);
  // Of 12 s, 8 s are clear and 2 s of ramps count half: 20 + 980 * 9/12 Mbit/s.
  EXPECT_NEAR(mean_mbit(trace), 755, 12);  // standard error 2.7
  int num_ramp_steps = 0, num_turns = 0;
  for (std::size_t i = 2; i + 1 < trace.steps.size(); ++i) {
    const DataRate before = trace.steps[i - 1].rate, rate = trace.steps[i].rate;
    if (std::max(before, rate) == mbit(1000) || std::min(before, rate) == mbit(20)) continue;
    // 10 ms of 1 s: a hundredth of 980 Mbit/s; unless the ramp turned within the step.
    const double change = std::abs((rate - before).megabits_per_sec());
    ++(std::abs(change - 9.8) < 0.000002 ? num_ramp_steps : num_turns);
  }
  EXPECT_GT(num_ramp_steps, 1'000'000);
  EXPECT_LT(num_turns, num_ramp_steps / 10'000);  // 0.6 % of the blockages, of some 200 steps each
}

TEST(Mmwave, ShadowingIsClippedToBlockedAndPeak) {
  MmwaveSpec spec = bare(1000s, 1s, 0s);
  spec.peak = mbit(1500);
  spec.shadowing = mbit(500);
  spec.shadow_time = 1s;
  const RateDistribution distribution(made(spec, 50'000s));
  EXPECT_EQ(distribution.points().back().rate, mbit(1500));
  EXPECT_EQ(distribution.points().front().rate, mbit(20));
  // One deviation above the mean is clipped: 15.87 % of the time.
  EXPECT_EQ(distribution.quantile(0.86), mbit(1500));
  EXPECT_LT(distribution.quantile(0.82), mbit(1500));
}

TEST(Mmwave, TheDefaultsHaveTheStatisticsOf5Gophers) {
  // Verizon, 8 connections, both servers, 1220 one-second samples (Narayanan et al., WWW 2020):
  // mean 1091 Mbit/s, CV 0.47, p10/p50/p90 357/1146/1730. Means within 3 %, quantiles within 8 %.
  std::vector<double> rates = means_mbit(made(MmwaveSpec{}, 80'000s), 1s);
  EXPECT_NEAR(mean_of(rates), 1091, 33);
  EXPECT_NEAR(variation(rates), 0.47, 0.015);
  std::sort(rates.begin(), rates.end());
  EXPECT_NEAR(rates[rates.size() / 10], 357, 29);
  EXPECT_NEAR(rates[rates.size() / 2], 1146, 92);
  EXPECT_NEAR(rates[rates.size() * 9 / 10], 1730, 138);
}

TEST(LinkModels, ParametersOutOfRangeAreNamed) {
  EXPECT_THAT(refusal(SawtoothSpec{mbit(2), mbit(1), 1s, 2, {}}),
              HasSubstr("low: 2Mbit/s is above"));
  EXPECT_THAT(refusal(SawtoothSpec{mbit(1), mbit(2), 1s, 1, {}}), HasSubstr("steps: 1 is out of"));
  EXPECT_THAT(refusal(SawtoothSpec{mbit(1), mbit(2), 1s, 5, Shape::kTriangle}),
              HasSubstr("steps: 5 is out of range; use 4 to 100000, an even number"));
  EXPECT_THAT(refusal(SawtoothSpec{mbit(1), mbit(2), 3ns, 4, {}}), HasSubstr("do not fit in 3ns"));
  EXPECT_THAT(refusal(SawtoothSpec{mbit(1), mbit(2), 2ns, 2, {}}), HasSubstr("steps: more than"));
  EXPECT_THAT(refusal(OnOffSpec{mbit(1), 0s, {}, {}, 1s, {}}), HasSubstr("on_time: 0ns is out of"));
  EXPECT_THAT(refusal(OnOffSpec{mbit(1), 2ns, {}, {}, 1ns, {}}), HasSubstr("off_time: more than"));
  EXPECT_THAT(refusal(ou(0, 1s)), HasSubstr("cv: 0 is out of range"));
  EXPECT_THAT(refusal(ou(std::nan(""), 1s)), HasSubstr("cv: nan is out of range"));
  EXPECT_THAT(refusal(ou(0.5, 1ns)), HasSubstr("step: more than"));
  EXPECT_THAT(refusal(OuSpec{mbit(1), 0.5, 1s, 1s, mbit(2), mbit(3)}),
              HasSubstr("mean: 1Mbit/s is not above zero and within floor and ceiling"));
  EXPECT_THAT(refusal(QuantilesSpec{{{0, mbit(1)}}, 1s, 1s}), HasSubstr("points: 1 of them"));
  EXPECT_THAT(refusal(QuantilesSpec{{{0.1, mbit(1)}, {1, mbit(2)}}, 1s, 1s}),
              HasSubstr("points: they run from 0.1 to 1"));
  EXPECT_THAT(refusal(QuantilesSpec{{{0, mbit(2)}, {1, mbit(1)}}, 1s, 1s}),
              HasSubstr("points[1]: 1:1Mbit/s does not follow 0:2Mbit/s"));
  EXPECT_THAT(refusal(QuantilesSpec{{{0, mbit(2)}, {std::nan(""), mbit(3)}, {1, mbit(3)}}, 1s, 1s}),
              HasSubstr("points[1]: nan:3Mbit/s does not follow"));
  EXPECT_THAT(refusal(bare(1s, 0s, 0s)), HasSubstr("blocked_time: 0ns is out of range"));
  EXPECT_THAT(refusal(bare(1ns, 1ns, 0s)), HasSubstr("clear_time: more than"));
  MmwaveSpec low = bare(1s, 1s, 0s);
  low.peak = mbit(500);
  EXPECT_THAT(refusal(low), HasSubstr("line_of_sight: 1Gbit/s is not within blocked and peak"));
}

}  // namespace
}  // namespace sluice
