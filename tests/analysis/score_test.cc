// Scores of policies and pairs: rules by hand, special cases, errors.
#include "analysis/score/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analysis/score_samples.h"

namespace sluice {
namespace {

using testing::HasSubstr;

Score must_score(ScoreInput input, const ScoreOptions& options = {}) {
  Result<Score> result = score(std::move(input), options);
  EXPECT_TRUE(result.ok()) << result.error().to_line();
  return *result;
}

TEST(Score, TheWiderIntervalIsPublishedAndNamed) {
  // Half of the loads violate in every window: windows do not differ, so loads taken as independent
  // are less certain.
  const Score even = must_score(input_of({policy_with("a", first_violate(20, 10, 5))}));
  EXPECT_EQ(even.policies[0].interval_method, IntervalMethod::kWilson);
  EXPECT_NEAR(*even.policies[0].violation_rate, 0.5, 1e-15);
  // All loads of half of the windows violate: 200 loads are worth 20.
  Outcomes split = first_violate(10, 10, 10);
  const Outcomes good = first_violate(10, 10, 0);
  split.insert(split.end(), good.begin(), good.end());
  const Score uneven = must_score(input_of({policy_with("a", split)}));
  EXPECT_EQ(uneven.policies[0].interval_method, IntervalMethod::kClusterBootstrap);
  EXPECT_NEAR(*uneven.policies[0].design_effect, 10.5,
              0.1);  // 10 loads that all agree, times 20 / 19
  EXPECT_GT(uneven.policies[0].violation_interval.width(),
            3 * even.policies[0].violation_interval.width());
}

TEST(Score, OneWindowLeavesWilsonAndSaysSo) {
  const Score score = must_score(input_of({policy_with("a", first_violate(1, 250, 20))}));
  EXPECT_EQ(score.policies[0].interval_method, IntervalMethod::kWilson);
  EXPECT_NEAR(score.policies[0].violation_interval.low, 0.0524, 5e-5);
  EXPECT_EQ(score.policies[0].design_effect, std::nullopt);
  ASSERT_EQ(score.notes.size(), 1u);
  EXPECT_THAT(score.notes[0], HasSubstr("one trace window"));
}

TEST(Score, NoLoadsHaveNoRateAndNoVerdict) {
  const Score score = must_score(input_of({policy_with("a", {}), policy_with("b", {})}));
  EXPECT_EQ(score.policies[0].violation_rate, std::nullopt);
  EXPECT_EQ(score.policies[0].ttft_p50, std::nullopt);
  EXPECT_EQ(score.policies[0].quality_mean, std::nullopt);
  EXPECT_EQ(score.pairs[0].verdict, Verdict::kUndecided);
  EXPECT_EQ(score.pairs[0].interval.low, -1);
  EXPECT_THAT(score.notes, testing::ElementsAre("no loads: nothing can be said"));
  EXPECT_TRUE(must_score(input_of({})).policies.empty());
}

TEST(Score, AllOrNoneViolatedKeepsWilsonsWidth) {
  const Score score = must_score(input_of(
      {policy_with("all", first_violate(20, 5, 5)), policy_with("none", first_violate(20, 5, 0))}));
  EXPECT_EQ(score.policies[0].violation_interval.high, 1);
  EXPECT_NEAR(score.policies[0].violation_interval.low, 0.963, 5e-4);
  EXPECT_EQ(score.policies[1].violation_interval.low, 0);
  EXPECT_NEAR(score.policies[1].violation_interval.high, 0.037, 5e-4);
  EXPECT_EQ(score.pairs[0].difference, 1);
  EXPECT_EQ(score.pairs[0].verdict, Verdict::kWorse);
}

TEST(Score, APolicyAgainstItselfIsEquivalentWithNoWidth) {
  const Score score = must_score(input_of(
      {policy_with("a", first_violate(3, 4, 1)), policy_with("a-again", first_violate(3, 4, 1))}));
  EXPECT_EQ(score.pairs[0].verdict, Verdict::kEquivalent);
  EXPECT_EQ(score.pairs[0].interval.low, 0);
  EXPECT_EQ(score.pairs[0].interval.high, 0);
  EXPECT_EQ(score.pairs[0].p_value, 1);
  EXPECT_EQ(score.pairs[0].interval_method, IntervalMethod::kIdentical);
}

TEST(Score, AgreeingIn12LoadsByDifferentMeansProvesNothing) {
  PolicyInput b = policy_with("b", first_violate(3, 4, 1));
  b.loads[0].bytes_moved = DataSize::bytes(1);
  const Score score = must_score(input_of({policy_with("a", first_violate(3, 4, 1)), b}));
  EXPECT_EQ(score.pairs[0].difference, 0);
  EXPECT_EQ(score.pairs[0].verdict, Verdict::kUndecided);
}

TEST(Score, PairsCountWhoViolatedAlone) {
  const Score score = must_score(input_of({policy_with("a", {{true, true, false, false}}),
                                           policy_with("b", {{true, false, true, false}})}));
  EXPECT_EQ(score.pairs[0].counts.both, 1);
  EXPECT_EQ(score.pairs[0].counts.only_a, 1);
  EXPECT_EQ(score.pairs[0].counts.only_b, 1);
  EXPECT_EQ(score.pairs[0].counts.neither, 1);
}

TEST(Score, WithoutBaselineAllPairsWithOneOnlyThoseAgainstIt) {
  const auto three = [] {
    return input_of({policy_with("a", first_violate(2, 2, 1)),
                     policy_with("b", first_violate(2, 2, 1)),
                     policy_with("c", first_violate(2, 2, 1))});
  };
  EXPECT_EQ(must_score(three()).pairs.size(), 3u);
  const Score against_b = must_score(three(), {.baseline = "b"});
  ASSERT_EQ(against_b.pairs.size(), 2u);
  EXPECT_EQ(
      against_b.pairs[0].a + against_b.pairs[0].b + against_b.pairs[1].a + against_b.pairs[1].b,
      "abcb");
}

TEST(Score, HolmIsOverThePairsScored) {
  // b=1, c=9: p = 0.0215 alone, and not below 5 % any more among three pairs.
  Outcomes a = first_violate(20, 5, 0), b = a;
  a[0][0] = true;
  for (std::size_t k = 1; k <= 9; ++k) b[k][0] = true;
  const auto none = policy_with("none", first_violate(20, 5, 0));
  const Score alone = must_score(input_of({policy_with("a", a), policy_with("b", b)}));
  EXPECT_NEAR(alone.pairs[0].p_value_holm, 0.0215, 5e-5);
  EXPECT_EQ(alone.pairs[0].verdict, Verdict::kBetter);
  const Score among = must_score(input_of({policy_with("a", a), policy_with("b", b), none}));
  EXPECT_NEAR(among.pairs[0].p_value, 0.0215, 5e-5);
  EXPECT_NEAR(among.pairs[0].p_value_holm, 2 * 0.021484375, 1e-9);
  EXPECT_NEAR(among.pairs[2].p_value_holm, 3 * 0.00390625, 1e-9);  // b=9, c=0
}

TEST(Score, QuantilesCountUnfinishedLoadsAsLaterThanAll) {
  PolicyInput policy = policy_with("a", first_violate(1, 20, 0));
  for (std::size_t i = 0; i < 20; ++i) {
    policy.loads[i].ttft = seconds_to_duration(static_cast<double>(20 - i));  // 20 s .. 1 s
  }
  EXPECT_EQ(must_score(input_of({policy})).policies[0].ttft_p50, seconds_to_duration(10));
  EXPECT_EQ(must_score(input_of({policy})).policies[0].ttft_p95, seconds_to_duration(19));
  policy.loads[0].ttft = policy.loads[1].ttft = std::nullopt;  // the 19th and the 20th
  EXPECT_EQ(must_score(input_of({policy})).policies[0].ttft_p50, seconds_to_duration(10));
  EXPECT_EQ(must_score(input_of({policy})).policies[0].ttft_p95, std::nullopt);
  EXPECT_EQ(must_score(input_of({policy})).policies[0].unfinished, 2);
}

TEST(Score, MeansAndSharesAreOverLoadsAndTokens) {
  PolicyInput policy = policy_with("a", first_violate(1, 2, 0));
  policy.loads[0].bytes_moved = DataSize::bytes(100);
  policy.loads[1].bytes_moved = DataSize::bytes(300);
  policy.loads[0].quality = 0.5;
  policy.loads[1].quality = std::nullopt;  // never finished
  policy.loads[1].recomputed_tokens = 750;
  policy.loads[1].peak_memory = DataSize::bytes(7);
  policy.tokens_by_level = {{"int8@token", 2250}, {"recompute", 750}, {"int4@token", 0}};
  policy.runs = {
      {.simulated_time = seconds_to_duration(1), .gpu_busy_fraction = 1, .link_utilisation = 0.1},
      {.simulated_time = seconds_to_duration(3),
       .gpu_busy_fraction = 0,
       .link_utilisation = 0.5,
       .stored_per_context = DataSize::bytes(9)}};
  const PolicyScore scored = must_score(input_of({policy})).policies[0];
  EXPECT_EQ(scored.bytes_per_load_mean, 200);
  EXPECT_EQ(scored.quality_mean, 0.5);
  EXPECT_EQ(scored.recomputed_fraction, 0.25);
  EXPECT_THAT(scored.level_fractions, testing::ElementsAre(testing::Pair("int8@token", 0.75),
                                                           testing::Pair("recompute", 0.25)));
  EXPECT_DOUBLE_EQ(*scored.gpu_busy_fraction, 0.25);
  EXPECT_DOUBLE_EQ(*scored.link_utilisation, 0.4);
  EXPECT_EQ(scored.stored_per_context, DataSize::bytes(9));
  EXPECT_EQ(scored.peak_memory, DataSize::bytes(7));
}

TEST(Score, TheOrderOfTheInputDoesNotMatter) {
  PolicyInput forward = policy_with("a", {{true, false}, {false, false}, {true, true}});
  PolicyInput backward = forward;
  std::reverse(backward.loads.begin(), backward.loads.end());
  EXPECT_EQ(must_score(input_of({forward})).policies[0].violation_interval.low,
            must_score(input_of({backward})).policies[0].violation_interval.low);
}

TEST(Score, LoadsThatOnePolicyLacksAreNamed) {
  PolicyInput b = policy_with("b", first_violate(2, 3, 1));
  b.loads.erase(b.loads.begin() + 4);  // load 1 of replicate 1
  const auto result = score(input_of({policy_with("a", first_violate(2, 3, 1)), b}), {});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().to_line(),
              HasSubstr("policy `b` lacks load 1 of replicate 1, which `a` has"));
  const auto turned = score(input_of({b, policy_with("a", first_violate(2, 3, 1))}), {});
  ASSERT_FALSE(turned.ok());
  EXPECT_THAT(turned.error().to_line(),
              HasSubstr("policy `b` lacks load 1 of replicate 1, which `a` has"));
}

TEST(Score, ALoadRecordedTwiceIsAnError) {
  PolicyInput a = policy_with("a", first_violate(1, 2, 0));
  a.loads.push_back(a.loads[1]);
  const auto result = score(input_of({a}), {});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().to_line(), HasSubstr("policy `a` has load 1 of replicate 0 twice"));
}

TEST(Score, AMisspeltBaselineNamesTheNearest) {
  const auto result = score(input_of({policy_with("recompute", {}), policy_with("fixed", {})}),
                            {.baseline = "recomptue"});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(
      result.error().to_line(),
      "error: --baseline: no policy `recomptue` among those scored; did you mean `recompute`?");
}

TEST(Verdict, FollowsTheIntervalTheAdjustedPAndDelta) {
  const ScoreOptions options{.delta = 0.01};
  EXPECT_EQ(decide({-0.80, -0.74}, 0.0001, options), Verdict::kBetter);
  EXPECT_EQ(decide({0.02, 0.05}, 0.0001, options), Verdict::kWorse);
  EXPECT_EQ(decide({-0.02, 0.005}, 0.0001, options), Verdict::kUndecided);  // includes 0
  EXPECT_EQ(decide({-0.80, -0.74}, 0.06, options),
            Verdict::kUndecided);  // too many pairs for that p
  EXPECT_EQ(decide({-0.01, 0.01}, 1, options), Verdict::kEquivalent);
  EXPECT_EQ(decide({-0.009, -0.001}, 0.001, options),
            Verdict::kEquivalent);  // proven, and too small to matter
  EXPECT_EQ(decide({-0.011, 0.009}, 1, options), Verdict::kUndecided);
  EXPECT_EQ(decide({-0.009, -0.001}, 0.001, {.delta = 0}), Verdict::kBetter);
}

}  // namespace
}  // namespace sluice
