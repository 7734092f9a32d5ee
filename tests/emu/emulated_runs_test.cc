// Whole scenarios over an emulated link: what can be emulated, what both worlds plan with, and what
// makes a run invalid.
#include "emu/run/emulated_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emu/run/host_health.h"
#include "emu/run/rehearsal.h"
#include "emu/run/single_link.h"
#include "sim/scenario/ladder.h"
#include "sim/serving/draws.h"
#include "sim/serving/plan.h"
#include "sim/serving/topology.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

Scenario shipped(const std::string& name, std::int64_t replicates = 1) {
  ScenarioOverrides overrides;
  overrides.replicates = replicates;
  return *read_scenario(*find_scenario(name), overrides);
}

// A small model, so that a load takes a tenth of a second.
Scenario small() {
  Scenario s = shipped("edge-constant");
  s.model = *find_geometry("smollm2-135m");
  s.ladder.levels.resize(2);
  s.chunk_tokens = 128;
  s.workload.context_tokens = {.low = 300, .high = 400};
  s.workload.loads = 1;
  return s;
}

EmulatedLinkSpec link_of(const Scenario& s) {
  return emulated_link_of(
      make_topology(s, *draw_replicate(s, 0), {.replicate = 0, .first_load = 0}));
}

TEST(Emulatable, OneCableWithNothingElseOnIt) {
  EXPECT_TRUE(check_emulatable(shipped("edge-step-down")).ok());
  EXPECT_THAT(check_emulatable(shipped("edge-shared-eight")).error().what, HasSubstr("cables"));
  EXPECT_THAT(check_emulatable(shipped("edge-competing-tcp")).error().what,
              HasSubstr("cross traffic"));
  EXPECT_THAT(check_emulatable(shipped("cachegen-replica")).error().what,
              HasSubstr("belongs to the chunk"));
  Scenario warm = shipped("edge-step-down");
  warm.workload.prefix_cache = PrefixCacheSetting{.capacity_tokens = 1000};
  EXPECT_THAT(check_emulatable(warm).error().what, HasSubstr("prefix cache"));
}

TEST(ScenarioContents, BothWorldsPlanWithTheSizesOfTheChunksThatExist) {
  const Result<ScenarioContents> made = make_scenario_contents(small(), {});
  ASSERT_TRUE(made.ok()) << made.error().to_line();
  const Scenario& s = made->scenario;
  EXPECT_NE(s.sha256, small().sha256) << "results of made chunks are no results of the profile";
  const LoadDraw load = draw_replicate(s, 0)->loads.front();
  const LoadPlan plan = plan_load(s, level_infos(s.ladder), s.policies.front(), 0, load);
  ASSERT_EQ(plan.chunks.size(), 3u);  // 300 to 384 tokens in chunks of 128, or a fourth
  const ContextContents& context = *made->contents->find(made->context);
  for (const ChunkPlan& chunk : plan.chunks) {
    for (std::size_t level = 0; level < plan.levels.size(); ++level) {
      const EncodedChunk* stored = context.find(chunk.stored_as, static_cast<std::int64_t>(level));
      ASSERT_NE(stored, nullptr);
      EXPECT_EQ(chunk.levels[level].size, stored->bytes.size());
      EXPECT_GT(chunk.levels[level].decode_time, Duration::zero());
    }
  }
}

// Decodes of a run at the second level: `ms` each.
LoadRecord decodes(const Scenario& s, std::vector<std::pair<std::int64_t, int>> tokens_and_ms) {
  LoadRecord load;
  for (const auto& [tokens, ms] : tokens_and_ms) {
    ChunkRecord chunk;
    chunk.index = static_cast<std::int32_t>(load.chunks.size());
    chunk.tokens = tokens;
    chunk.level = s.ladder.levels[1].id();
    chunk.compute_began_at = kRunStart;
    chunk.resident_at = kRunStart + std::chrono::milliseconds{ms};
    load.chunks.push_back(chunk);
  }
  return load;
}

// Planned are 10 ms. The first chunk took 20, 15 and 12 ms, the second 10: 1.5 and 1 times as long.
// A place where nothing was decoded takes the upper median of the four, 1.5.
TEST(Rehearsal, DecodesTakeWhatTheyTookBesideTheTransfers) {
  Scenario s = small();
  MeasuredChunks measured;
  measured.sha256 = "of an idle machine";
  const LevelCost at_first{.size = {}, .decode_time = 20ms},
      at_second{.size = {}, .decode_time = 10ms};
  measured.chunks[{0, 128}] = {.stored_as = 0, .levels = {at_first, at_second}};
  measured.chunks[{1, 128}] = {.stored_as = 1, .levels = {at_first, at_second}};
  measured.chunks[{2, 50}] = {.stored_as = 2, .levels = {at_first, at_second}};
  const MeasuredChunks beside = with_decodes_of(
      measured, s.ladder,
      {decodes(s, {{128, 20}}), decodes(s, {{128, 15}, {128, 10}}), decodes(s, {{128, 12}})});
  EXPECT_EQ(beside.chunks.at({0, 128}).levels[1].decode_time, 15ms);
  EXPECT_EQ(beside.chunks.at({0, 128}).levels[0].decode_time, 30ms);
  EXPECT_EQ(beside.chunks.at({1, 128}).levels[1].decode_time, 10ms);
  EXPECT_EQ(beside.chunks.at({2, 50}).levels[1].decode_time, 15ms);
  EXPECT_NE(beside.sha256, measured.sha256) << "they are other results";
}

// A chunk that is asked for, whose first byte comes, and which has arrived: ms after the arrival.
ChunkRecord fetched(int asked, int first_byte, int arrived) {
  ChunkRecord chunk;
  chunk.requested_at = kRunStart + std::chrono::milliseconds{asked};
  chunk.first_byte_at = kRunStart + std::chrono::milliseconds{first_byte};
  chunk.arrived_at = kRunStart + std::chrono::milliseconds{arrived};
  return chunk;
}

// Of a round trip of 10 ms. The first request of a load waits for its handshake, the fourth is made
// while the third arrives; the others take 2 and 6 ms more, and of another load's 3.
TEST(Rehearsal, ARequestTakesWhatItsFirstByteTookBeyondTheRoundTrip) {
  LoadRecord load, other;
  load.chunks = {fetched(0, 30, 100), fetched(100, 112, 200), fetched(200, 216, 300),
                 fetched(250, 301, 400)};
  other.chunks = {fetched(0, 30, 100), fetched(100, 113, 200)};
  EXPECT_EQ(request_time_of({load, other}, 10ms), 3ms);
  load.chunks.resize(1);
  EXPECT_EQ(request_time_of({load}, 10ms), std::nullopt);
}

TEST(Rehearsal, WithoutADecodeTheTimesStay) {
  const MeasuredChunks measured{.sha256 = "of an idle machine", .chunks = {}};
  EXPECT_EQ(with_decodes_of(measured, small().ladder, {}).sha256, measured.sha256);
}

TEST(ScenarioContents, RefusesMoreThanTheMemoryItMayTake) {
  ScenarioContentsOptions options;
  options.size_max = DataSize::bytes(1000);
  const auto made = make_scenario_contents(small(), options);
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().to_line(), HasSubstr("--contents-max"));
}

TEST(HostHealth, IsValidUntilALimitIsPassed) {
  const CpuUse idle{.busy = 0.5, .stolen = 0.0, .own = 0.5};
  LatenessHistogram timers;
  for (int i = 0; i < 100; ++i) timers.record(1ms);
  HealthRecorder good;
  good.add({.num_packets = 1, .lateness_p99 = 1ms}, {}, {});
  EXPECT_TRUE(good.finish("tun", timers, idle).is_valid());

  HealthRecorder late;
  late.add({.num_packets = 1, .lateness_p99 = 1ms}, {}, {});
  late.add({.num_packets = 1, .lateness_p99 = 6ms}, {}, {});  // the worst stage counts
  EXPECT_THAT(late.finish("tun", timers, idle).doubts, HasSubstr("left the link"));

  HealthRecorder stolen;
  EXPECT_THAT(stolen.finish("tun", timers, {.busy = 0.5, .stolen = 0.2}).doubts,
              HasSubstr("20 % of the processors' time went to other machines"));
  HealthRecorder busy;
  EXPECT_THAT(busy.finish("tun", timers, {.busy = 0.99}).doubts, HasSubstr("busy 99 %"));
  HealthRecorder lost;
  lost.add({.num_packets = 1, .num_host_drops = 3}, {}, {});
  EXPECT_THAT(lost.finish("tun", timers, idle).doubts, HasSubstr("lost 3 packets"));
  for (int i = 0; i < 10; ++i) timers.record(50ms);
  HealthRecorder slow;
  EXPECT_THAT(slow.finish("tun", timers, idle).doubts, HasSubstr("timers came"));
}

TEST(EmulatedRuns, ALoadOverEveryEmulatorEndsWithAllOfItsChunksDecoded) {
  const ScenarioContents made = *make_scenario_contents(small(), {});
  int num_run = 0;
  for (const LinkEmulator& emulator : link_emulators()) {
    if (const Status able = emulator.check(link_of(made.scenario)); !able) {
      std::cout << emulator.id << " is left out: " << able.error().to_line() << '\n';
      continue;
    }
    EmulatedRuns runs(made, {.emulator = emulator.id});
    const auto run =
        runs.run(*parse_policy("fixed:level=" + made.scenario.ladder.levels[0].id()), 0);
    ASSERT_TRUE(run.ok()) << run.error().to_line();
    ++num_run;
    ASSERT_EQ(run->loads.size(), 1u);
    const LoadRecord& load = run->loads.front();
    EXPECT_EQ(load.outcome, LoadOutcome::kCompleted) << emulator.id << ": " << load.failure;
    for (const ChunkRecord& chunk : load.chunks)
      EXPECT_EQ(chunk.action, ChunkAction::kFetched) << emulator.id;
    EXPECT_EQ(run->metrics.health->emulator, emulator.id);
    EXPECT_GT(run->metrics.link_utilisation, 0) << emulator.id;
  }
  EXPECT_GE(num_run, 1) << "the one without namespaces works everywhere";
}

TEST(EmulatedRuns, LoadsThatShareTheLinkAndComeOneAfterTheOtherAllEnd) {
  Scenario s = small();
  s.workload.arrivals = EveryArrivals{.gap = 100ms};
  s.workload.loads = 5;
  const ScenarioContents made = *make_scenario_contents(s, {});
  EmulatedRuns runs(made, {});
  const auto run = runs.run(*parse_policy("seed-ratio"), 0);
  ASSERT_TRUE(run.ok()) << run.error().to_line();
  ASSERT_EQ(run->loads.size(), 5u);
  for (const LoadRecord& load : run->loads)
    EXPECT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
}

TEST(EmulatedRuns, SeveralRunsShareTheLinkAndEachMeetsItAnew) {
  const ScenarioContents made = *make_scenario_contents(small(), {});
  EmulatedRuns runs(made, {});
  const PolicySpec policy = *parse_policy("seed-ratio");
  for (int i = 0; i < 3; ++i) {
    const auto run = runs.run(policy, 0);
    ASSERT_TRUE(run.ok()) << run.error().to_line();  // one emulator works everywhere
    EXPECT_EQ(run->loads.front().outcome, LoadOutcome::kCompleted);
    EXPECT_LT(*run->loads.front().ttft(), 10s);
  }
}

}  // namespace
}  // namespace sluice
