// What a policy may do, and what happens to one that does what it may not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/session/load_bench.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Decision wait() {
  return {{Wait{}}, "wait"};
}

std::string failure_of(Action action) {
  const auto rule = [action](const Observation&) -> Decision { return {{action}, "illegal"}; };
  const LoadRecord load = LoadBench().chunk({1000}).run("fluid", rule);
  EXPECT_EQ(load.outcome, LoadOutcome::kFailed);
  EXPECT_TRUE(load.violated());
  return load.failure;
}

TEST(IllegalDecision, FailsTheLoadAndSaysWhy) {
  EXPECT_THAT(failure_of(Fetch{.chunk = 7}), HasSubstr("chunk 7 of 1"));
  EXPECT_THAT(failure_of(Fetch{.chunk = -1}), HasSubstr("chunk -1"));
  EXPECT_THAT(failure_of(Fetch{.chunk = 0, .level = 9}), HasSubstr("level 9 of 1"));
  EXPECT_THAT(failure_of(Fetch{.chunk = 0, .level = 0, .connections = 0}),
              HasSubstr("0 connections"));
  EXPECT_THAT(failure_of(Cancel{.chunk = 0}), HasSubstr("not being fetched"));
  EXPECT_THAT(failure_of(Start{}), HasSubstr("before every chunk was here"));
  EXPECT_THAT(failure_of(Wait{}), HasSubstr("nothing is under way"));
}

TEST(IllegalDecision, FetchingTheSameChunkTwiceIsOne) {
  const auto rule = [](const Observation&) -> Decision {
    return {{Fetch{.chunk = 0}, Fetch{.chunk = 0}}, "twice"};
  };
  EXPECT_THAT(LoadBench().chunk({1000}).run("fluid", rule).failure,
              HasSubstr("already being fetched"));
}

TEST(IllegalDecision, AnEmptyDecisionCountsAsWaiting) {
  const auto rule = [](const Observation&) -> Decision { return {}; };
  EXPECT_THAT(LoadBench().chunk({1000}).run("fluid", rule).failure,
              HasSubstr("nothing is under way"));
}

TEST(Hedging, TheFirstToFinishWinsAndTheOtherIsDropped) {
  // Transfer of 1 s against a recompute of 300 ms, both asked for at once: 300 + 25.
  const auto rule = [](const Observation& o) -> Decision {
    if (o.chunks[0].phase == ChunkPhase::kAbsent)
      return {{Fetch{.chunk = 0}, Recompute{.chunk = 0}}, "hedge"};
    return wait();
  };
  const LoadRecord slow_link = LoadBench().chunk({1'000'000}).run("fluid", rule);
  EXPECT_EQ(slow_link.ttft(), 325ms);
  EXPECT_EQ(slow_link.chunks.at(0).action, ChunkAction::kRecomputed);
  EXPECT_EQ(slow_link.bytes_moved.bytes(),
            280'000);  // 300 ms less the request's 10 and the flight's 10
  // Little to transfer: it arrives first, but its decode waits for the prefill that runs and is
  // dropped with it.
  const LoadRecord fast_link = LoadBench().chunk({10'000}).run("fluid", rule);
  EXPECT_EQ(fast_link.chunks.at(0).action, ChunkAction::kRecomputed);
}

TEST(Cancelling, WhatCameIsCountedAndTheChunkIsAbsentAgain) {
  int asked = 0;
  const auto rule = [&asked](const Observation& o) -> Decision {
    if (o.chunks[0].phase == ChunkPhase::kAbsent && asked++ == 0)
      return {{Fetch{.chunk = 0}, Cancel{.chunk = 0}, Fetch{.chunk = 0}}, "again"};
    return wait();
  };
  const LoadRecord load = LoadBench().chunk({1'000'000}).run("fluid", rule);
  EXPECT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(load.bytes_moved.bytes(), 1'000'000);
}

TEST(Layers, ARefinementCarriesOnlyTheDifferenceAndStartCutsItShort) {
  // Level 1 (coarse) is 100 kB; level 0 (fine, 1 MB) refines it: 900 kB more.
  LoadBench bench;
  bench.plan.levels = {
      {.id = "layered@2", .codec = "layered", .level = "2", .damage = 0.0, .refines = 1},
      {.id = "layered@1", .codec = "layered", .level = "1", .damage = 0.1, .refines = {}}};
  bench.chunk({1'000'000, 100'000});
  const auto refine = [](const Observation& o) -> Decision {
    const ChunkView& c = o.chunks[0];
    if (c.phase == ChunkPhase::kAbsent) return {{Fetch{.chunk = 0, .level = 1}}, "base"};
    if (c.phase == ChunkPhase::kResident && c.level == 1 && !c.fetching)
      return {{Fetch{.chunk = 0, .level = 0}}, "refine"};
    return wait();
  };
  // Base: 10 + 100 + 10, decode 5: resident at 125. Refinement: 125 + 10 + 900 + 10 + 5 = 1050;
  // first token 1075.
  const LoadRecord whole = bench.run("fluid", refine);
  ASSERT_EQ(whole.outcome, LoadOutcome::kCompleted) << whole.failure;
  EXPECT_EQ(whole.ttft(), 1075ms);
  EXPECT_EQ(whole.kv_ready_at, kRunStart + 125ms);
  EXPECT_EQ(whole.bytes_moved.bytes(), 1'000'000);
  EXPECT_EQ(whole.quality, 1.0);
  const auto start_early = [&](const Observation& o) -> Decision {
    if (o.chunks[0].phase == ChunkPhase::kResident) return {{Start{}}, "good enough"};
    return refine(o);
  };
  const LoadRecord cut = bench.run("fluid", start_early);
  EXPECT_EQ(cut.ttft(), 150ms);
  EXPECT_DOUBLE_EQ(cut.quality, 0.9);
}

TEST(Layers, ALevelThatDoesNotRefineWhatIsHereIsRefused) {
  LoadBench bench;
  bench.plan.levels = {
      {.id = "fine@1", .codec = "fine", .level = "1", .damage = 0.0, .refines = {}},
      {.id = "other@1", .codec = "other", .level = "1", .damage = 0.1, .refines = {}}};
  const auto rule = [](const Observation& o) -> Decision {
    if (o.chunks[0].phase == ChunkPhase::kAbsent) return {{Fetch{.chunk = 0, .level = 0}}, "fine"};
    if (o.chunks[0].phase == ChunkPhase::kResident)
      return {{Fetch{.chunk = 0, .level = 1}}, "other"};
    return wait();
  };
  EXPECT_THAT(bench.chunk({1000, 500}).run("fluid", rule).failure, HasSubstr("does not refine"));
}

TEST(Foresight, OnlyAClairvoyantLoadSeesTheRateThatItsNextFetchWillMeet) {
  for (const bool clairvoyant : {false, true}) {
    LoadBench bench;
    bench.plan.clairvoyant = clairvoyant;
    bool seen = !clairvoyant;
    const auto rule = [&](const Observation& o) {
      EXPECT_EQ(o.foresight.has_value(), clairvoyant);
      if (o.foresight) seen = o.foresight->next_chunk_rate == DataRate::bits_per_sec(8'000'000);
      return fetch_in_order(o);
    };
    EXPECT_EQ(bench.chunk({1000}).run("fluid", rule).outcome, LoadOutcome::kCompleted);
    EXPECT_TRUE(seen);
  }
}

TEST(Observing, PastTransfersCarryWhatWasMeasured) {
  Duration time{};
  DataRate rate;
  const auto rule = [&](const Observation& o) {
    EXPECT_EQ(o.round_trip, 20ms);
    if (!o.past.empty()) {
      time = o.past.back().time;
      rate = o.past.back().rate;
    }
    return fetch_in_order(o);
  };
  (void)LoadBench().chunk({980'000}).chunk({1000}).chunk({1000}).run("fluid", rule);
  EXPECT_EQ(time, 21ms);  // the second: 20 ms round trip, 1 ms of bytes
  EXPECT_LT(rate, DataRate::bits_per_sec(8'000'000));
}

}  // namespace
}  // namespace sluice
