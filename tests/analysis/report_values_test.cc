// What the report computes before it writes: ranking, which load to show, order of
// the levels.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/report/level_scheme.h"
#include "analysis/report/load_choice.h"
#include "analysis/report/numbers.h"
#include "analysis/report/palette.h"
#include "analysis/report/ranking.h"
#include "analysis/report/report.h"
#include "analysis/report/sections.h"
#include "tests/analysis/score_samples.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ReportPalette, TheFirst36PoliciesDifferInColourOrDash) {
  std::set<std::string> looks;
  for (std::size_t i = 0; i < 36; ++i) looks.insert(policy_colour_class(i) + policy_dash_class(i));
  EXPECT_EQ(looks.size(), 36u);
}

TEST(ReportNumbers, AbsentIsADashAndSignsAreWhereTheyMatter) {
  EXPECT_EQ(percent_text(std::nullopt), "—");
  EXPECT_EQ(percent_text(0.1234), "12.3\u00A0%");
  EXPECT_EQ(seconds_text(seconds_to_duration(0.8325)), "0.833");
  EXPECT_EQ(megabytes_text(176'320'000.0), "176.3");
  EXPECT_EQ(count_text(1200), "1200");
  EXPECT_EQ(count_text(1'200'000), "1\u202F200\u202F000");
  PairScore pair;
  pair.difference = -0.125;
  pair.interval = {-0.2, 0.0001};
  EXPECT_EQ(points_text(pair), "−12.5 [−20.0, 0.0]");
}

ScoreInput input_of(std::vector<PolicyInput> policies) {
  ScoreInput input;
  input.policies = std::move(policies);
  return input;
}

TEST(ReportRanking, PoliciesStandByViolationRateAndTheReferenceIsTheBestUnlessABaselineIsGiven) {
  const ScoreInput input = input_of({policy_with("bad", first_violate(10, 10, 9)),
                                     policy_with("good", first_violate(10, 10, 1)),
                                     policy_with("middle", first_violate(10, 10, 5))});
  const auto all_pairs = score(input, {});
  ASSERT_TRUE(all_pairs.ok());
  EXPECT_THAT(ranked(*all_pairs), ElementsAre(1, 2, 0));
  EXPECT_EQ(reference_policy(*all_pairs), "good");
  const auto with_baseline = score(input, {.baseline = "middle"});
  ASSERT_TRUE(with_baseline.ok());
  EXPECT_EQ(reference_policy(*with_baseline), "middle");
}

TEST(ReportRanking, APairIsTurnedSoThatTheReferenceIsTheSecond) {
  // 100 loads each: bad violates 90, good 10. In input order the pair is (bad, good); against bad
  // it must be turned.
  const auto scored = score(input_of({policy_with("bad", first_violate(10, 10, 9)),
                                      policy_with("good", first_violate(10, 10, 1))}),
                            {});
  ASSERT_TRUE(scored.ok());
  const auto against_bad = pairs_against(*scored, "bad");
  ASSERT_EQ(against_bad.size(), 1u);
  EXPECT_EQ(against_bad[0].a, "good");
  EXPECT_DOUBLE_EQ(against_bad[0].difference, -0.8);
  EXPECT_LE(against_bad[0].interval.low, -0.8);
  EXPECT_GE(against_bad[0].interval.high, -0.8);
  EXPECT_EQ(against_bad[0].verdict, Verdict::kBetter);
  EXPECT_EQ(against_bad[0].counts.only_b, 80);
  const auto against_good = pairs_against(*scored, "good");
  ASSERT_EQ(against_good.size(), 1u);
  EXPECT_DOUBLE_EQ(against_good[0].difference, 0.8);
  EXPECT_EQ(against_good[0].verdict, Verdict::kWorse);
}

TEST(ReportLoadChoice, TheLoadThatSplitsThePoliciesIsShown) {
  // Two replicates of two loads; only in load 1 of replicate 1 do the two policies differ.
  const auto choice = choose_load(input_of({policy_with("a", {{false, false}, {false, false}}),
                                            policy_with("b", {{false, false}, {false, true}})}));
  ASSERT_TRUE(choice.has_value());
  EXPECT_EQ(*choice, (LoadChoice{1, 1}));
}

TEST(ReportLoadChoice, AmongEquallySplitLoadsTheTypicalOneIsShown) {
  PolicyInput only = policy_with("a", {{false, false, false}});
  const double seconds[] = {0.2, 0.9, 0.5};
  for (std::size_t i = 0; i < 3; ++i) only.loads[i].ttft = seconds_to_duration(seconds[i]);
  EXPECT_EQ(choose_load(input_of({only}))->index, 2) << "0.5 s is the median of 0.2, 0.9 and 0.5 s";
}

TEST(ReportLoadChoice, LoadsWithoutAFirstTokenCountAsInfinitelyLateAndNoLoadsMeanNoChoice) {
  PolicyInput only = policy_with("a", {{true, true, false}});
  only.loads[0].ttft.reset();
  only.loads[1].ttft.reset();
  EXPECT_EQ(choose_load(input_of({only}))->index, 0);
  EXPECT_FALSE(choose_load(input_of({})).has_value());
}

TEST(ReportLevels, TheLaddersOrderCountsAndStrangersFollow) {
  const LevelScheme levels(
      R"({"ladder": {"levels": [{"id": "int8@token"}, {"id": "cachegen-released@2"}]}})",
      {"recompute", "none", "zip@9", "cachegen-released@2"});
  EXPECT_THAT(levels.levels(), ElementsAre("int8@token", "cachegen-released@2", "zip@9"));
  EXPECT_TRUE(levels.before("int8@token", "cachegen-released@2"));
  EXPECT_TRUE(levels.before("zip@9", "recompute"));
  EXPECT_TRUE(levels.before("recompute", "none"));
  EXPECT_NE(levels.class_of("int8@token"), levels.class_of("zip@9"));
}

TEST(ReportLevels, ACanonicalTextOfAnyOtherShapeHasNoLadder) {
  for (const char* text :
       {"", "name: x", "[]", "{\"ladder\": 3}", "{\"ladder\": {\"levels\": [7, {\"id\": 7}]}}"}) {
    EXPECT_THAT(LevelScheme(text, {"a@1"}).levels(), ElementsAre("a@1")) << text;
  }
}

TEST(ReportCommand, WordsThatAShellWouldChangeAreQuoted) {
  EXPECT_EQ(command_text({"/any/where/build/bin/sluice-sim", "edge-fluctuating", "--store",
                          "a b.db", "it's", ""}),
            R"(./sluice sim edge-fluctuating --store 'a b.db' 'it'\''s' '')");
}

TEST(ReportLoadName, IsARunAndALoadIndex) {
  const auto name = parse_load_name("12/3");
  ASSERT_TRUE(name.ok());
  EXPECT_EQ(name->run, RunId{12});
  EXPECT_EQ(name->index, 3);
  for (const char* wrong : {"", "12", "12/", "/3", "-1/3", "12/3x", "99999999999999999999/1"}) {
    const auto refused = parse_load_name(wrong);
    ASSERT_FALSE(refused.ok()) << wrong;
    EXPECT_THAT(refused.error().to_line(),
                HasSubstr("--load: `" + std::string(wrong) + "` is not RUN/INDEX"));
  }
}

}  // namespace
}  // namespace sluice
