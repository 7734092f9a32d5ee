// Bytes that are held and decoded once, and a policy that waits until an instant. 8 Mbit/s is one
// byte per microsecond, round trip 20 ms, first token 25 ms.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/session/load_bench.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

Decision one(Action action) {
  return {{action}, "as the test wants"};
}

Fetch held(std::int32_t chunk, std::int32_t level) {
  return {.chunk = chunk, .level = level, .decode = DecodeWhen::kWhenAsked};
}

// Levels 2 (base, 100 kB), 1 (300 kB) and 0 (600 kB), each refining the next; to decode they take
// 10, 20 and 40 ms.
LoadBench layered(std::size_t num_chunks) {
  LoadBench bench;
  bench.plan.levels = {
      {.id = "layered@3", .codec = "layered", .level = "3", .damage = 0.0, .refines = 1},
      {.id = "layered@2", .codec = "layered", .level = "2", .damage = 0.1, .refines = 2},
      {.id = "layered@1", .codec = "layered", .level = "1", .damage = 0.3, .refines = {}}};
  for (std::size_t i = 0; i < num_chunks; ++i) {
    bench.chunk({600'000, 300'000, 100'000});
    bench.plan.chunks.back().levels[0].decode_time = 40ms;
    bench.plan.chunks.back().levels[1].decode_time = 20ms;
    bench.plan.chunks.back().levels[2].decode_time = 10ms;
  }
  return bench;
}

TEST(HeldBytes, AreDecodedOnceAtTheLevelThatTheyReached) {
  const auto rule = [](const Observation& o) -> Decision {
    const ChunkView& c = o.chunks[0];
    if (c.phase == ChunkPhase::kAbsent) return one(held(0, 2));
    EXPECT_EQ(c.held, c.phase == ChunkPhase::kArrived && c.level.has_value());
    if (c.level == 2 && !c.fetching) return one(held(0, 1));
    if (c.level == 1) return one(Start{});
    return one(Wait{});
  };
  // Base: 10 + 100 + 10 = 120 ms; digits: 10 + 200 + 10 = 340 ms; one decode of 20, then 25: 385.
  const LoadRecord load = layered(1).run("fluid", rule);
  ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(load.ttft(), 385ms);
  EXPECT_EQ(load.chunks[0].compute_began_at, kRunStart + 340ms);
  EXPECT_EQ(load.chunks[0].level, "layered@2");
  EXPECT_DOUBLE_EQ(load.quality, 0.9);
  EXPECT_EQ(load.bytes_moved.bytes(), 300'000);
  // All 300 kB are held until they are decoded to 2 MB.
  EXPECT_EQ(load.peak_memory.bytes(), 2'300'000);
}

TEST(HeldBytes, AreDecodedByStartInTheOrderOfChunks) {
  const auto rule = [](const Observation& o) -> Decision {
    if (o.chunks[0].phase == ChunkPhase::kAbsent)
      return {{held(1, 2), held(0, 2), held(2, 1)}, "all at once, not in order"};
    if (o.transfers_in_flight > 0) return one(Wait{});
    return one(Start{});
  };
  // Answered in the order of requests: 10 + 100 + 100 + 300 + 10 = 520 ms. Decodes 10, 10 and 20.
  const LoadRecord load = layered(3).run("fluid", rule);
  ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(load.chunks[0].resident_at, kRunStart + 530ms);
  EXPECT_EQ(load.chunks[1].resident_at, kRunStart + 540ms);
  EXPECT_EQ(load.chunks[2].resident_at, kRunStart + 560ms);
  EXPECT_EQ(load.ttft(), 585ms);
}

TEST(HeldBytes, AreDecodedAloneWhileOthersStillCome) {
  const auto rule = [](const Observation& o) -> Decision {
    if (o.chunks[0].phase == ChunkPhase::kAbsent)
      return {{held(0, 2), held(1, 1)}, "a base and a larger one"};
    if (o.chunks[0].held) return one(Decode{0});
    if (o.chunks[1].held) return one(Start{});
    return one(Wait{});
  };
  // Chunk 0 arrives at 120 ms and is resident at 130; chunk 1 at 420 ms, decoded at 440.
  const LoadRecord load = layered(2).run("fluid", rule);
  EXPECT_EQ(load.chunks[0].resident_at, kRunStart + 130ms);
  EXPECT_EQ(load.ttft(), 465ms);
}

TEST(HeldBytes, OfARefinementLeaveTheDecodedBaseInUseUntilStart) {
  const auto rule = [](const Observation& o) -> Decision {
    const ChunkView& c = o.chunks[0];
    if (c.phase == ChunkPhase::kAbsent) return one(Fetch{.chunk = 0, .level = 2});
    if (c.phase == ChunkPhase::kResident && c.level == 2 && !c.fetching) return one(held(0, 0));
    return one(Wait{});  // nothing in flight and all resident: means Start
  };
  // Base resident at 130 ms; two layers in one request: 130 + 10 + 500 + 10 = 650; 40 and 25: 715.
  const LoadRecord load = layered(1).run("fluid", rule);
  ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(load.kv_ready_at, kRunStart + 130ms);
  EXPECT_EQ(load.ttft(), 715ms);
  EXPECT_EQ(load.bytes_moved.bytes(), 600'000);
  EXPECT_EQ(load.quality, 1.0);
}

TEST(HeldBytes, GiveWayToARecompute) {
  const auto rule = [](const Observation& o) -> Decision {
    if (o.chunks[0].phase == ChunkPhase::kAbsent) return one(held(0, 2));
    if (o.chunks[0].held && !o.chunks[0].recomputing) return one(Recompute{0});
    return one(Wait{});
  };
  const LoadRecord load = layered(1).run("fluid", rule);  // 120 + 300 + 25
  EXPECT_EQ(load.ttft(), 445ms);
  EXPECT_EQ(load.chunks[0].action, ChunkAction::kRecomputed);
  EXPECT_EQ(load.quality, 1.0);
}

TEST(HeldBytes, AreNothingThatAPolicyMayWaitFor) {
  const auto rule = [](const Observation& o) -> Decision {
    if (o.chunks[0].phase == ChunkPhase::kAbsent) return one(held(0, 2));
    return one(Wait{});
  };
  EXPECT_EQ(layered(1).run("fluid", rule).failure,
            "the policy waits although nothing is under way");
}

TEST(Decode, OfWhatIsNotHeldFailsTheLoad) {
  const auto rule = [](const Observation& o) -> Decision {
    if (o.chunks[0].phase == ChunkPhase::kAbsent)
      return {{held(0, 2), Decode{0}}, "before it is here"};
    return one(Wait{});
  };
  EXPECT_EQ(layered(1).run("fluid", rule).failure, "no bytes of chunk 0 are held");
}

TEST(WaitUntil, AsksAgainAtThatVeryInstant) {
  // Of 600 kB that take 620 ms nothing is used: at 200 ms the transfer is cut and the text
  // recomputed.
  const auto rule = [](const Observation& o) -> Decision {
    const ChunkView& c = o.chunks[0];
    if (c.phase == ChunkPhase::kAbsent) return one(held(0, 0));
    if (c.fetching && o.now < kRunStart + 200ms) return one(Wait{kRunStart + 200ms});
    if (c.fetching) return {{Cancel{0}, Recompute{0}}, "too slow"};
    return one(Wait{});
  };
  const LoadRecord load = layered(1).run("fluid", rule);
  EXPECT_EQ(load.chunks[0].compute_began_at, kRunStart + 200ms);
  EXPECT_EQ(load.ttft(), 525ms);
  EXPECT_EQ(load.bytes_moved.bytes(), 180'000);  // request and last byte take 10 ms each
}

TEST(WaitUntil, AnInstantThatHasPassedFailsTheLoad) {
  const auto rule = [](const Observation& o) -> Decision {
    return {{held(0, 0), Wait{o.now}}, "until now"};
  };
  EXPECT_THAT(layered(1).run("fluid", rule).failure, HasSubstr("an instant that has passed"));
}

}  // namespace
}  // namespace sluice
