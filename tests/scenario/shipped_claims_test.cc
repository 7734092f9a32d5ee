// What the READMEs of shipped scenarios promise, where a number checkable by head stands behind it.
// Surprise: few replicates in the fluid tier; shares have tolerances of several standard errors.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "sim/scenario/ladder.h"
#include "sim/scenario/scenario.h"
#include "sim/serving/draws.h"
#include "sim/serving/run.h"
#include "traces/distribution.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

Scenario shipped(const std::string& name, std::optional<std::string> variant = std::nullopt) {
  ScenarioOverrides overrides;
  overrides.variant = std::move(variant);
  Result<Scenario> s = read_scenario(*find_scenario(name), overrides);
  EXPECT_TRUE(s.ok()) << s.error().to_line();
  return std::move(*s);
}

std::vector<LoadRecord> loads_of(const Scenario& s, const std::string& policy,
                                 std::int64_t replicates) {
  std::vector<LoadRecord> loads;
  for (std::int64_t r = 0; r < replicates; ++r) {
    const Result<RunOutcome> run = run_replicate(s, *parse_policy(policy), r, "fluid");
    EXPECT_TRUE(run.ok()) << run.error().to_line();
    loads.insert(loads.end(), run->loads.begin(), run->loads.end());
  }
  return loads;
}

double violated_share(const Scenario& s, const std::string& policy, std::int64_t replicates) {
  const std::vector<LoadRecord> loads = loads_of(s, policy, replicates);
  const auto violated = std::count_if(loads.begin(), loads.end(),
                                      [](const LoadRecord& load) { return load.violated(); });
  return static_cast<double>(violated) / static_cast<double>(loads.size());
}

double reused_share(const std::vector<LoadRecord>& loads) {
  std::int64_t reused = 0, all = 0;
  for (const LoadRecord& load : loads) {
    for (const ChunkRecord& chunk : load.chunks) {
      all += chunk.tokens;
      reused += chunk.action == ChunkAction::kReused ? chunk.tokens : 0;
    }
  }
  return static_cast<double>(reused) / static_cast<double>(all);
}

TEST(CacheGenReplica, EightBitViolatesAboutEightInTenTheMiddleLevelTwoTheReleasedRuleAlmostNone) {
  const Scenario s = shipped("cachegen-replica");
  // 1000 loads: the standard error of a share of 0.8 is 0.013.
  EXPECT_NEAR(violated_share(s, "fixed:level=int8@token", 1000), 0.8, 0.1);
  EXPECT_NEAR(violated_share(s, "fixed:level=cachegen-released@2", 1000), 0.2, 0.1);
  EXPECT_LE(violated_share(s, "cachegen-released", 1000), 0.05);
}

TEST(CacheGenReplica, OneLoadOnARateOf1GbitTakesItsBytesAndNothingElse) {
  // 622 MB (9490 tokens of 65 536 elements at 8 bit, chunk by chunk) at 1 Gbit/s: 4.976 s, no round
  // trip, no decode.
  Scenario s = shipped("cachegen-replica");
  s.topology.main_link().capacity =
      GeneratorSpec{ConstantSpec{DataRate::bits_per_sec(1'000'000'000)}};
  const std::vector<LoadRecord> loads = loads_of(s, "fixed:level=int8@token", 1);
  EXPECT_EQ(loads.at(0).bytes_moved.bytes(), 9490 * 65'536);
  EXPECT_NEAR(to_seconds(*loads.at(0).ttft()), 4.9755, 0.0001);
}

TEST(EdgeConstant, At100MbitNoLevelFitsTwoSecondsAndRecomputingDoes) {
  // The smallest: 8500 tokens of 65 536 elements at 2.06 bit are 144 MB, 11.5 s at 0.1 Gbit/s.
  const Scenario s = shipped("edge-constant", "link.capacity=0.1Gbit/s");
  for (const LevelInfo& level : level_infos(s.ladder)) {
    for (const LoadRecord& load : loads_of(s, "fixed:level=" + level.id, 5))
      EXPECT_GT(*load.ttft(), 11s) << level.id;
  }
  EXPECT_EQ(violated_share(s, "recompute", 20), 0);
}

TEST(EdgeOutage, ASecondWithoutALinkDelaysEveryFixedLoadByASecond) {
  const Scenario with = shipped("edge-outage");
  Scenario without = with;
  without.topology.main_link().capacity =
      GeneratorSpec{ConstantSpec{DataRate::bits_per_sec(2'000'000'000)}};
  for (const std::string policy : {"fixed:level=int8@token", "fixed:level=cachegen-released@1"}) {
    const auto late = loads_of(with, policy, 10), prompt = loads_of(without, policy, 10);
    for (std::size_t i = 0; i < late.size(); ++i)
      EXPECT_NEAR(to_seconds(*late[i].ttft() - *prompt[i].ttft()), 1.0, 1e-3) << policy;
  }
}

// Over all replicates of the scenario: mean rate in Mbit/s, and mean coefficient of variation.
std::pair<double, double> rate_statistics(const Scenario& s) {
  double rate = 0, variation = 0;
  for (std::int64_t r = 0; r < s.replicates; ++r) {
    const LinkTrace trace = draw_replicate(s, r)->cables.front().there;
    rate += summarise(trace).mean.megabits_per_sec();
    variation += RateDistribution(trace).coefficient_of_variation();
  }
  const auto n = static_cast<double>(s.replicates);
  return {rate / n, variation / n};
}

TEST(EdgeWandering, MoreVariationLeavesTheMeanAsItIs) {
  // 40 traces of 10 minutes, correlated over 5 s: a mean is known to 0.9 sqrt(10 / 24 000) = 2 %.
  for (const double cv : {0.2, 0.5, 0.9}) {
    const auto [rate, variation] =
        rate_statistics(shipped("edge-wandering", fmt::format("link.capacity.cv={}", cv)));
    EXPECT_NEAR(rate, 2000, 2000 * 0.08) << cv;
    EXPECT_NEAR(variation, cv, cv * 0.15) << cv;
  }
}

TEST(EdgeSawtooth, CreepingUpAndCreepingDownHaveTheSameMean) {
  for (const std::string shape : {"rise", "fall"}) {
    const Scenario s = shipped("edge-sawtooth", "link.capacity.shape=" + shape);
    EXPECT_NEAR(rate_statistics(s).first, 1600, 1) << shape;  // of 200 and 3000 Mbit/s
  }
}

TEST(LmcacheRoundTrips, TimesGrowLinearlyByOneRoundTripPerChunkAndTheStartUp) {
  const auto ttft = [](const std::string& delay) {
    const Scenario s =
        shipped("lmcache-round-trips", fmt::format("link.delay={}, codec.chunk_tokens=256", delay));
    return loads_of(s, "fixed:level=int8@token", 1).at(0);
  };
  const LoadRecord near = ttft("0ms"), middle = ttft("12500us"), far = ttft("25ms");
  const auto chunks = static_cast<double>(near.chunks.size());
  const double round_trips = to_seconds(*far.ttft() - *near.ttft()) / 0.050;
  EXPECT_GE(round_trips, chunks + 1);   // and the handshake
  EXPECT_LE(round_trips, chunks + 14);  // and at most 13 doublings of the window: 15 kB to 62 MB
  EXPECT_NEAR(to_seconds(*middle.ttft() - *near.ttft()) / 0.025, round_trips, 2);
}

TEST(WanDistance, SixtyMillisecondsMoreCostEachLoadItsChunksAndAHandshakeTimesSixty) {
  const auto near = loads_of(shipped("wan-distance", "topology.link.delay=10ms"),
                             "fixed:level=cachegen-released@1", 3);
  const auto far = loads_of(shipped("wan-distance", "topology.link.delay=40ms"),
                            "fixed:level=cachegen-released@1", 3);
  for (std::size_t i = 0; i < near.size(); ++i)
    EXPECT_GE(*far[i].ttft() - *near[i].ttft(), 60ms * (near[i].chunks.size() + 1));
}

TEST(LlmD64k, RawAloneTakesItsBytesAt1250MegabytesPerSecondAndNobodyIsInTime) {
  const Scenario s = shipped("llm-d-64k");
  const LoadRecord raw = loads_of(s, "fixed:level=raw@exact", 1).at(0);
  const auto bytes = static_cast<double>(raw.context_tokens * 131'072);  // 65 536 elements of 2 B
  EXPECT_NEAR(static_cast<double>(raw.bytes_moved.bytes()), bytes, bytes * 0.001);
  // Headers of 52 in 9000 bytes are 0.6 %; the first token and the way are some 10 ms.
  EXPECT_NEAR(to_seconds(*raw.ttft()), bytes / 1.25e9, 0.1);
  for (const PolicySpec& policy : s.policies)
    EXPECT_EQ(violated_share(s, policy.name(), 3), 1) << policy.name();
}

TEST(VFlashProfile, MovesThe890BytesPerTokenThatAreClaimed) {
  const Scenario s = shipped("v-flash-profile");
  const LoadRecord load = loads_of(s, "fixed:level=v-flash@claimed", 1).at(0);
  EXPECT_NEAR(static_cast<double>(load.bytes_moved.bytes()),
              890.0 * static_cast<double>(load.context_tokens),
              static_cast<double>(load.chunks.size()));
  EXPECT_FALSE(load.violated());
}

TEST(TieredPlacement, EightBitIsLateFromTheFarStoreAndFromNowhereElse) {
  const Scenario s = shipped("tiered-placement");
  for (std::int64_t r = 0; r < 20; ++r) {
    const ReplicateDraws draws = *draw_replicate(s, r);
    const RunOutcome run = *run_replicate(s, *parse_policy("fixed:level=int8@token"), r, "fluid");
    for (std::size_t i = 0; i < run.loads.size(); ++i)
      EXPECT_EQ(run.loads[i].violated(), s.topology.nodes[draws.loads[i].source] == "far-store");
  }
}

TEST(DatacenterStall, FixedLevelsAreLateByUpToAMinuteWhereTheReleasedRuleRecomputes) {
  const Scenario s = shipped("datacenter-stall");
  const auto fixed = loads_of(s, "fixed:level=cachegen-released@1", 20);
  const auto released = loads_of(s, "cachegen-released", 20);
  std::int64_t stalled = 0;
  for (std::size_t i = 0; i < fixed.size(); ++i) {
    if (!fixed[i].violated()) continue;
    ++stalled;
    EXPECT_LE(*fixed[i].ttft(), 61s);
    if (released[i].recomputed_tokens == released[i].context_tokens) {
      EXPECT_LE(*released[i].ttft(), 2s);
    }
  }
  // 60 of 1260 s: 19 of 400 loads, in traces of 10 h that differ in how many stalls they have.
  EXPECT_GE(stalled, 5);
  EXPECT_LE(stalled, 40);
}

TEST(StarlinkMotorway, NoRuleMakes4000TokensFitTwoSeconds) {
  const Scenario s = shipped("starlink-motorway", "workload.context_tokens=4000");
  for (const PolicySpec& policy : s.policies)
    EXPECT_EQ(violated_share(s, policy.name(), 5), 1) << policy.name();
}

TEST(Datacenter70b16k, RawFitsASecondFrom100GbitOnAndNothingAt3) {
  const std::string raw = "fixed:level=raw@exact", least = "fixed:level=cachegen-released@1";
  // 16 000 tokens of 327 680 bytes: 5.2 GB, 1.7 s at 25 Gbit/s, 0.42 s at 100; smallest 0.68 GB.
  EXPECT_EQ(violated_share(shipped("datacenter-70b-16k", "link.capacity=3Gbit/s"), least, 3), 1);
  EXPECT_EQ(violated_share(shipped("datacenter-70b-16k", "link.capacity=25Gbit/s"), raw, 3), 1);
  EXPECT_EQ(violated_share(shipped("datacenter-70b-16k", "link.capacity=100Gbit/s"), raw, 3), 0);
}

TEST(ShippedLongContexts, StreamInChunksAndHoldNoMoreThanTheCacheAndTwoOfThem) {
  for (const std::string name : {"long-context-100k", "yi-34b-80k"}) {
    const Scenario s = shipped(name);
    const LoadRecord load = loads_of(s, "fixed:level=cachegen-released@1", 1).at(0);
    EXPECT_GE(load.context_tokens, 75'000);
    EXPECT_EQ(load.chunks.size(), static_cast<std::size_t>((load.context_tokens + 1499) / 1500));
    const DataSize cache = DataSize::bytes(2 * s.model.elements(load.context_tokens));
    EXPECT_LE(load.peak_memory.bytes(), cache.bytes() + 2 * load.chunks.front().bytes.bytes())
        << name;
    EXPECT_FALSE(load.violated()) << name;
  }
}

TEST(Reuse, RagSparesAtMostOneTokenInEighteenAndChatThreeInFour) {
  // Every fifth context begins with 2000 known tokens, of 7000 on average: 0.2 * 2000 / 7000; the
  // share of contexts is known to sqrt(0.16 / 300) = 0.023 of 0.2.
  const Scenario rag =
      shipped("rag-many-contexts", "workload.prefix_cache={size: 2TB, warm_up: 200}");
  EXPECT_GT(reused_share(loads_of(rag, "recompute", 10)), 0);
  EXPECT_LT(reused_share(loads_of(rag, "recompute", 10)), 0.0571 * 1.35);
  const Scenario chat =
      shipped("chat-high-reuse", "workload.prefix_cache={size: 40GB, warm_up: 100}");
  EXPECT_GT(reused_share(loads_of(chat, "recompute", 5)), 0.75);
}

}  // namespace
}  // namespace sluice
