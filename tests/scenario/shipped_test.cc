// Every shipped scenario reads, and one replicate of each of its policies completes in the fluid
// tier.
#include <gtest/gtest.h>

#include "sim/scenario/scenario.h"
#include "sim/serving/run.h"

namespace sluice {
namespace {

TEST(ShippedScenarios, ReadAndRunOneReplicateOfEveryPolicyInTheFluidTier) {
  const auto files = shipped_scenarios();
  ASSERT_TRUE(files.ok());
  ASSERT_GE(files->size(), 3u);
  for (const auto& file : *files) {
    const Result<Scenario> s = read_scenario(file, {});
    ASSERT_TRUE(s.ok()) << s.error().to_line();
    EXPECT_EQ(s->name, file.parent_path().filename().string());
    EXPECT_GE(s->policies.size(), 2u);
    for (const PolicySpec& policy : s->policies) {
      const Result<RunOutcome> run = run_replicate(*s, policy, 0, "fluid");
      ASSERT_TRUE(run.ok()) << s->name << " " << policy.name() << ": " << run.error().to_line();
      for (const LoadRecord& load : run->loads)
        EXPECT_EQ(load.failure, "") << s->name << " " << policy.name();
    }
  }
}

double violated_share(const Scenario& s, const std::string& policy, std::int64_t replicates) {
  std::int64_t violated = 0, loads = 0;
  for (std::int64_t r = 0; r < replicates; ++r) {
    const Result<RunOutcome> run = run_replicate(s, *parse_policy(policy), r, "fluid");
    for (const LoadRecord& load : run->loads) {
      violated += load.violated() ? 1 : 0;
      ++loads;
    }
  }
  return static_cast<double>(violated) / static_cast<double>(loads);
}

TEST(CacheGenReplica, EightBitViolatesAboutEightInTenTheMiddleLevelTwoTheReleasedRuleAlmostNone) {
  const Result<Scenario> s = read_scenario(*find_scenario("cachegen-replica"), {});
  ASSERT_TRUE(s.ok()) << s.error().to_line();
  // 1000 loads: the standard error of a share of 0.8 is 0.013.
  EXPECT_NEAR(violated_share(*s, "fixed:level=int8@token", 1000), 0.8, 0.1);
  EXPECT_NEAR(violated_share(*s, "fixed:level=cachegen-released@2", 1000), 0.2, 0.1);
  EXPECT_LE(violated_share(*s, "cachegen-released", 1000), 0.05);
}

TEST(CacheGenReplica, OneLoadOnARateOf1GbitTakesItsBytesAndNothingElse) {
  // 622 MB (9490 tokens of 65 536 elements at 8 bit, chunk by chunk) at 1 Gbit/s: 4.976 s, no round
  // trip, no decode.
  ScenarioOverrides overrides;
  Result<Scenario> s = read_scenario(*find_scenario("cachegen-replica"), overrides);
  ASSERT_TRUE(s.ok());
  s->topology.main_link().capacity =
      GeneratorSpec{ConstantSpec{DataRate::bits_per_sec(1'000'000'000)}};
  const Result<RunOutcome> run =
      run_replicate(*s, *parse_policy("fixed:level=int8@token"), 0, "fluid");
  ASSERT_TRUE(run.ok()) << run.error().to_line();
  EXPECT_EQ(run->loads.at(0).bytes_moved.bytes(), 9490 * 65'536);
  EXPECT_NEAR(to_seconds(*run->loads.at(0).ttft()), 4.9755, 0.0001);
}

}  // namespace
}  // namespace sluice
