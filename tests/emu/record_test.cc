// A run's observations as a scenario: rates checkable by head, a round trip, and refusals.
#include "emu/run/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sim/cli/campaign.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using testing::HasSubstr;

ChunkRecord moved(std::int64_t bytes, Duration asked, Duration first, Duration last) {
  ChunkRecord chunk;
  chunk.bytes = DataSize::bytes(bytes);
  chunk.requested_at = at_ns(to_ns(asked));
  chunk.first_byte_at = at_ns(to_ns(first));
  chunk.arrived_at = at_ns(to_ns(last));
  return chunk;
}

RateStep step(Duration start, std::int64_t rate) {
  return {start, DataRate::bits_per_sec(rate)};
}

TEST(ObservedLink, AddsWhatOverlapsAndKeepsTheRateInGaps) {
  LoadRecord load;
  // 1 MB in 1 s is 8 Mbit/s; from 2 s on another at 16 Mbit/s, from 2.5 s on both.
  load.chunks = {moved(1'000'000, 980ms, 1s, 2s), moved(2'000'000, 1s, 3s, 4s),
                 moved(500'000, 1s, 3500ms, 4s)};
  const auto seen = observe_link({&load, 1});
  ASSERT_TRUE(seen.ok()) << seen.error().to_line();
  EXPECT_EQ(seen->trace.steps, (std::vector<RateStep>{step(0s, 8'000'000), step(3s, 16'000'000),
                                                      step(3500ms, 24'000'000)}));
  EXPECT_EQ(seen->trace.length, Duration(4s));
  EXPECT_EQ(seen->one_way_delay, Duration(10ms)) << "half of 20 ms";
  EXPECT_EQ(seen->trace.kind, TraceKind::kAchievedThroughput);
}

TEST(ObservedLink, LaysWindowsOfLoadsOneAfterTheOther) {
  LoadRecord one, two;
  one.chunks = {moved(1'000'000, 0s, 1s, 2s)};
  two.arrived_at = at_ns(to_ns(10s));
  two.chunks = {moved(2'000'000, 10s, 11s, 12s)};
  const auto seen = observe_link(std::vector{one, two});
  ASSERT_TRUE(seen.ok());
  EXPECT_EQ(seen->trace.steps, (std::vector<RateStep>{step(0s, 8'000'000), step(2s, 16'000'000)}));
  EXPECT_EQ(seen->trace.length, Duration(4s));
}

TEST(ObservedLink, RefusesARunThatMovedNothing) {
  EXPECT_THAT(observe_link({}).error().to_line(), HasSubstr("moved no bytes"));
}

TEST(Record, AScenarioFromAFluidRunGivesItsTtftAgain) {
  const fs::path folder = fs::temp_directory_path() / ("sluice-record-" + std::to_string(getpid()));
  fs::create_directory(folder);
  ScenarioOverrides overrides;
  overrides.replicates = 1;
  overrides.variant = "link.capacity=1Gbit/s";
  overrides.policies = {"fixed:level=int8@token"};
  const auto scenario = read_scenario(*find_scenario("edge-constant"), overrides);
  ASSERT_TRUE(scenario.ok()) << scenario.error().to_line();
  const fs::path file = folder / "runs.db";
  ASSERT_TRUE(run_campaign(*scenario, {.store = file, .scenario_argument = "edge-constant"}).ok());
  {
    const auto store = Store::open_to_read(file);
    ASSERT_TRUE(store.ok());
    const auto runs = store->read_runs({});
    ASSERT_EQ(runs->size(), 1u);
    const RecordOptions to{.folder = folder / "mine", .name = "mine", .command = "a command"};
    const auto lost = record_scenario(*store, runs->front(), to);
    ASSERT_TRUE(lost.ok()) << lost.error().to_line();
    EXPECT_THAT(record_scenario(*store, runs->front(), to).error().what, HasSubstr("exists"));
    const auto again = read_scenario(to.folder / "scenario.yaml", {});
    ASSERT_TRUE(again.ok()) << again.error().to_line();
    const auto outcome = run_replicate(*again, again->policies.front(), 0, "fluid");
    ASSERT_TRUE(outcome.ok()) << outcome.error().to_line();
    const double was = to_seconds(*store->read_records(runs->front().id)->front().ttft());
    EXPECT_NEAR(to_seconds(*outcome->loads.front().ttft()) / was, 1.0, 0.03);
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace sluice
