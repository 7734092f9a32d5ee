// The error of a tier, with numbers by head.
#include "analysis/score/tier_error.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

ScoredLoad load(std::int64_t index, std::optional<Duration> ttft, std::int64_t bytes = 1000) {
  ScoredLoad one;
  one.load = index;
  one.ttft = ttft;
  one.bytes_moved = DataSize::bytes(bytes);
  one.violated = !ttft || *ttft > 1s;
  return one;
}

// 1 %, 2 % and 10 % off, in both directions: median 2 %, 95th percentile 10 %, bias +3 %.
TEST(TierError, IsRelativeToTheDeeperTier) {
  const std::vector<ScoredLoad> tier{load(0, 990ms), load(1, 1020ms), load(2, 1100ms)};
  const std::vector<ScoredLoad> reference{load(2, 1s), load(1, 1s), load(0, 1s)};
  const TierError error = tier_error(tier, reference);
  EXPECT_EQ(error.num_loads, 3);
  EXPECT_NEAR(*error.median, 0.02, 1e-12);
  EXPECT_NEAR(*error.p95, 0.10, 1e-12);
  EXPECT_NEAR(*error.bias, 0.11 / 3, 1e-12);
  EXPECT_EQ(error.violations, 2);
  EXPECT_EQ(error.reference_violations, 0);
}

TEST(TierError, ALoadThatEndsInOneTierOnlyIsCountedApart) {
  const std::vector<ScoredLoad> tier{load(0, 1s), load(1, std::nullopt)};
  const std::vector<ScoredLoad> reference{load(0, 1s), load(1, 2s)};
  const TierError error = tier_error(tier, reference);
  EXPECT_EQ(error.num_loads, 1);
  EXPECT_EQ(error.num_unmatched, 1);
  EXPECT_EQ(error.violations, 1);
}

TEST(TierError, ARecomputedContextSaysNothingOfTheNetwork) {
  const std::vector<ScoredLoad> both{load(0, 500ms, 0), load(1, 500ms)};
  EXPECT_EQ(tier_error(both, both).num_loads, 1);
}

TEST(TierError, LoadsOfOneSideOnlyAreLeftOut) {
  const TierError error = tier_error(std::vector{load(0, 1s)}, std::vector{load(1, 1s)});
  EXPECT_EQ(error.num_loads, 0);
  EXPECT_FALSE(error.median);
}

// Three tiers make three pairs, each with a row per policy and one over all.
TEST(TierError, EachTierIsComparedWithEachDeeperOne) {
  std::vector<ScoreInput> tiers(3);
  const char* names[] = {"fluid", "burst", "packet"};
  for (std::size_t i = 0; i < 3; ++i) {
    tiers[i].tier = names[i];
    tiers[i].policies.resize(2);
    tiers[i].policies[0] = {.policy = "a", .loads = {load(0, 1s)}};
    tiers[i].policies[1] = {.policy = "b", .loads = {load(0, 2s)}};
  }
  const std::vector<TierComparison> rows = compare_tiers(tiers);
  ASSERT_EQ(rows.size(), 9u);
  EXPECT_EQ(rows[0].policy, "a");
  EXPECT_EQ(rows[2].policy, "");
  EXPECT_EQ(rows[2].error.num_loads, 2);
  EXPECT_EQ(rows[8].tier, "burst");
  EXPECT_EQ(rows[8].reference, "packet");
}

}  // namespace
}  // namespace sluice
