// What people and programs read of a score.
#include "analysis/score/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/analysis/score_samples.h"

namespace sluice {
namespace {

// 100 loads in 20 windows: "bad" violates in 4 of 5, "good" in 1 of 5, on the same loads and one
// more.
Score sample() {
  ScoreInput input = input_of(
      {policy_with("bad", first_violate(20, 5, 4)), policy_with("good", first_violate(20, 5, 1))});
  input.policies[1].profile = "mistral-7b (published)";
  input.policies[1].tokens_by_level = {{"cachegen-released@2", 3}, {"recompute", 1}};
  return *score(std::move(input), {});
}

std::set<std::string> names_of(const nlohmann::json& object) {
  std::set<std::string> names;
  for (const auto& [name, value] : object.items()) names.insert(name);
  return names;
}

// These names are read by other programs. Take none away, rename none.
TEST(Json, KeepsTheNamesOfTheContract) {
  const nlohmann::json json = verdict_json(sample(), "runs.db");
  EXPECT_THAT(names_of(json),
              testing::IsSupersetOf({"scenario", "tier", "store", "policies", "pairs"}));
  EXPECT_THAT(names_of(json["policies"][0]),
              testing::IsSupersetOf({"policy", "loads", "violations", "violation_rate",
                                     "violation_rate_low", "violation_rate_high", "ttft_s_p50",
                                     "ttft_s_p95", "bytes_per_load_mean", "recomputed_fraction",
                                     "quality_mean", "levels"}));
  EXPECT_THAT(names_of(json["pairs"][0]),
              testing::UnorderedElementsAre(
                  "a", "b", "difference", "low", "high", "interval_method", "only_a_violates",
                  "only_b_violates", "p_value", "p_value_clustered", "p_value_holm", "verdict"));
}

TEST(Json, HoldsFractionsSecondsAndBytes) {
  const nlohmann::json json = verdict_json(sample(), "runs.db");
  EXPECT_EQ(json["scenario"], "by-hand");
  EXPECT_EQ(json["store"], "runs.db");
  EXPECT_EQ(json["policies"][0]["loads"], 100);
  EXPECT_EQ(json["policies"][0]["violations"], 80);
  EXPECT_EQ(json["policies"][0]["violation_rate"], 0.8);
  EXPECT_EQ(json["policies"][0]["ttft_s_p50"], 2.0);
  EXPECT_EQ(json["policies"][1]["ttft_s_p50"], 1.0);
  EXPECT_EQ(json["policies"][0]["bytes_per_load_mean"], 176e6);
  EXPECT_EQ(json["policies"][1]["levels"]["cachegen-released@2"], 0.75);
  EXPECT_EQ(json["policies"][0]["gpu_busy_fraction"], nullptr);  // no run said
  EXPECT_EQ(json["pairs"][0]["verdict"], "worse");
  EXPECT_NEAR(json["pairs"][0]["difference"].get<double>(), 0.6, 1e-15);
}

TEST(Json, OneScoreIsAnObjectSeveralAreComparisons) {
  EXPECT_EQ(verdict_json(std::vector<Score>{sample()}, "runs.db"),
            verdict_json(sample(), "runs.db"));
  const nlohmann::json two = verdict_json(std::vector<Score>{sample(), sample()}, "runs.db");
  EXPECT_THAT(names_of(two), testing::ElementsAre("comparisons", "store"));
  EXPECT_EQ(two["comparisons"][1], verdict_json(sample(), "runs.db"));
}

TEST(VerdictTable, ShowsRateWithIntervalTimesQualityMixBytesAndProfile) {
  std::ostringstream text;
  verdict_table(sample()).print_text(text);
  EXPECT_EQ(text.str(), &R"(
policy  loads  SLO violated [95 %]  TTFT p50, s  p95, s  quality  MB/load  profile  level mix (tokens)
------  -----  -------------------  -----------  ------  -------  -------  -------  ----------------------------------------
bad       100  80.0 % [71.1, 86.7]        2.000   2.000   0.7500    176.0      [1]  int8@token
good      100  20.0 % [13.3, 28.9]        1.000   2.000   0.7500    176.0      [2]  cachegen-released@2 75 %, recompute 25 %
[1] by hand
[2] mistral-7b (published)
)"[1]);
}

TEST(VerdictTable, LeavesOutSharesBelowHalfAPercentAndCallsNoRestTheWhole) {
  ScoreInput input = input_of({policy_with("a", first_violate(20, 5, 4))});
  input.policies[0].tokens_by_level = {{"recompute", 998}, {"int8@token", 2}};
  std::ostringstream text, csv;
  const Score scored = *score(std::move(input), {});
  verdict_table(scored).print_text(text);
  verdict_table(scored).print_csv(csv);
  EXPECT_THAT(text.str(), testing::HasSubstr("recompute >99 %\n"));
  EXPECT_THAT(csv.str(), testing::HasSubstr("recompute=0.998;int8@token=0.002\n"));
}

TEST(VerdictTable, CsvHasOneNumberPerColumnAndEmptyForAbsent) {
  std::ostringstream csv;
  verdict_table(sample()).print_csv(csv);
  EXPECT_THAT(csv.str(),
              testing::StartsWith(
                  "scenario,scenario_sha256,tier,seed,policy,loads,violations,violation_rate,"
                  "violation_rate_low,"
                  "violation_rate_high,interval_method,ttft_s_p50,ttft_s_p95,quality_mean,"
                  "bytes_per_load_mean,recomputed_fraction,gpu_busy_fraction,link_utilisation,"
                  "profile,levels\nby-hand,,fluid,0,bad,100,80,0.8,0.7111"));
  EXPECT_THAT(csv.str(),
              testing::HasSubstr("wilson,2,2,0.75,176000000,0,,,by hand,int8@token=1\n"));
}

TEST(VerdictTable, NamesScenarioAndTierWhenThereAreSeveral) {
  Score packet = sample();
  packet.tier = "packet";
  std::ostringstream text;
  verdict_table({sample(), packet}).print_text(text);
  EXPECT_THAT(text.str(), testing::HasSubstr("by-hand   packet     0  good"));
}

TEST(VerdictLines, SayEachPairAsASentence) {
  PairScore pair;
  pair.a = "cachegen-released";
  pair.b = "fixed:level=int8@token";
  pair.difference = -0.771;
  pair.interval = {-0.801, -0.740};
  pair.p_value_holm = 1e-9;
  pair.verdict = Verdict::kBetter;
  Score score;
  score.pairs = {pair, pair, pair};
  score.pairs[1].difference = 0.003;
  score.pairs[1].interval = {-0.002, 0.008};
  score.pairs[1].p_value_holm = 0.34;
  score.pairs[1].verdict = Verdict::kEquivalent;
  score.pairs[2].difference = 0;
  score.pairs[2].interval = {-0.03, 0.03};
  score.pairs[2].p_value_holm = 1;
  score.pairs[2].verdict = Verdict::kUndecided;
  EXPECT_THAT(
      verdict_lines(score),
      testing::ElementsAre(
          "cachegen-released violates 77.1 points less than fixed:level=int8@token [74.0, 80.1], "
          "p < 0.001: better",
          "cachegen-released violates 0.3 points more than fixed:level=int8@token [-0.2, 0.8], "
          "p = 0.340: equivalent within 1 point",
          "cachegen-released violates as often as fixed:level=int8@token [-3.0, 3.0], p = 1.000: "
          "undecided"));
}

TEST(PairTable, HoldsWhatTheSentencesSay) {
  std::ostringstream csv;
  pair_table({sample()}).print_csv(csv);
  EXPECT_THAT(csv.str(),
              testing::StartsWith("scenario,scenario_sha256,tier,seed,a,b,difference,low,high,"
                                  "interval_method,only_a_violates,"
                                  "only_b_violates,p_value,p_value_clustered,p_value_holm,verdict\n"
                                  "by-hand,,fluid,0,bad,good,0.6,"));
  EXPECT_THAT(csv.str(), testing::EndsWith(",worse\n"));
}

}  // namespace
}  // namespace sluice
