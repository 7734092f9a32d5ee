// Loads whose every instant can be computed on paper: 8 Mbit/s is 1 byte per microsecond, round
// trip 20 ms, decode 5 ms, recompute 300 ms, first token 25 ms.
#include <gtest/gtest.h>

#include "tests/session/load_bench.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

TEST(OneChunk, TakesRequestPlusTransferPlusDecodePlusFirstTokenToTheMicrosecond) {
  // Request 10 ms, 1 000 000 bytes at 1 byte/us 1 s, last byte travels 10 ms, decode 5 ms, first
  // token 25 ms: 1.050 s.
  const LoadRecord load = LoadBench().chunk({1'000'000}).run("fluid", fetch_in_order);
  ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(load.ttft(), 1050ms);
  EXPECT_EQ(load.kv_ready_at, kRunStart + 1025ms);
  const ChunkRecord& chunk = load.chunks.at(0);
  EXPECT_EQ(chunk.requested_at, kRunStart);
  EXPECT_EQ(chunk.arrived_at, kRunStart + 1020ms);
  EXPECT_EQ(chunk.compute_began_at, kRunStart + 1020ms);
  EXPECT_EQ(chunk.resident_at, kRunStart + 1025ms);
  EXPECT_EQ(chunk.bytes.bytes(), 1'000'000);
  EXPECT_EQ(load.bytes_moved.bytes(), 1'000'000);
  EXPECT_FALSE(load.violated());
}

TEST(OneChunk, AHandshakeCostsOneRoundTripMore) {
  LoadBench bench;
  bench.transport.handshake = true;
  EXPECT_EQ(bench.chunk({1'000'000}).run("fluid", fetch_in_order).ttft(), 1070ms);
}

TEST(OneChunk, TheBurstTierAgreesWithinTwoPercent) {
  const LoadRecord load = LoadBench().chunk({1'000'000}).run("burst", fetch_in_order);
  if (load.failure.find("tier") != std::string::npos) GTEST_SKIP() << load.failure;
  ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_NEAR(to_seconds(*load.ttft()), 1.050, 0.021);
}

TEST(OneChunk, AnSloIsMetAtItsVeryInstantAndViolatedANanosecondLater) {
  LoadBench bench;
  bench.chunk({1'000'000});
  bench.plan.slo = 1050ms;
  EXPECT_FALSE(bench.run("fluid", fetch_in_order).violated());
  bench.plan.slo = 1050ms - 1ns;
  EXPECT_TRUE(bench.run("fluid", fetch_in_order).violated());
}

TEST(TwoChunks, DecodeOverlapsWithTheNextTransfer) {
  // The second request leaves at 1020 ms; its bytes arrive at 1020 + 10 + 1000 + 10 = 2040; the
  // first decode is long over.
  const LoadRecord load =
      LoadBench().chunk({1'000'000}).chunk({1'000'000}).run("fluid", fetch_in_order);
  EXPECT_EQ(load.chunks.at(0).resident_at, kRunStart + 1025ms);
  EXPECT_EQ(load.chunks.at(1).requested_at, kRunStart + 1020ms);
  EXPECT_EQ(load.chunks.at(1).arrived_at, kRunStart + 2040ms);
  EXPECT_EQ(load.ttft(), 2070ms);
}

TEST(TwoChunks, ARecomputedChunkWaitsUntilAllEarlierOnesAreResident) {
  // Chunk 1 is asked to be recomputed at once, but chunk 0 is resident only at 1025 ms: 1025 + 300
  // + 25 = 1350 ms.
  const auto rule = [](const Observation& o) -> Decision {
    Decision d{{}, "both at once"};
    if (o.chunks[0].phase == ChunkPhase::kAbsent) d.actions.push_back(Fetch{.chunk = 0});
    if (o.chunks[1].phase == ChunkPhase::kAbsent) d.actions.push_back(Recompute{.chunk = 1});
    if (d.actions.empty()) d.actions.push_back(Wait{});
    return d;
  };
  const LoadRecord load = LoadBench().chunk({1'000'000}).chunk({1'000'000}).run("fluid", rule);
  EXPECT_EQ(load.chunks.at(1).compute_began_at, kRunStart + 1025ms);
  EXPECT_EQ(load.chunks.at(1).action, ChunkAction::kRecomputed);
  EXPECT_EQ(load.ttft(), 1350ms);
  EXPECT_EQ(load.recomputed_tokens, 1500);
}

TEST(Quality, IsTheTokenWeightedMeanOfOneMinusDamage) {
  LoadBench bench;
  bench.plan.levels = {
      {.id = "fine@1", .codec = "fine", .level = "1", .damage = 0.2, .refines = {}}};
  bench.chunk({1000}).chunk({1000});
  bench.plan.chunks[0].tokens = 500;  // fetched: 0.8; the other 1500 recomputed: 1.0; mean 0.95
  const auto rule = [](const Observation& o) -> Decision {
    if (o.chunks[0].phase == ChunkPhase::kAbsent)
      return {{Fetch{.chunk = 0}, Recompute{.chunk = 1}}, "mix"};
    return {{Wait{}}, "wait"};
  };
  EXPECT_DOUBLE_EQ(bench.run("fluid", rule).quality, 0.95);
}

TEST(Memory, ThePeakCountsEncodedAndDecodedBytesHeldAtOnce) {
  // One chunk: 1 MB encoded is still held when the 2 MB decoded become valid.
  EXPECT_EQ(LoadBench().chunk({1'000'000}).run("fluid", fetch_in_order).peak_memory.bytes(),
            3'000'000);
  // Two: the second's 1 MB buffer is set aside at 1020 ms while chunk 0 (1 MB) decodes; the top is
  // at the end, 2 + 2 + 1.
  EXPECT_EQ(LoadBench()
                .chunk({1'000'000})
                .chunk({1'000'000})
                .run("fluid", fetch_in_order)
                .peak_memory.bytes(),
            5'000'000);
}

TEST(Outage, ALoadThatNeverFinishesIsUnfinishedAndViolated) {
  const LoadRecord load =
      LoadBench().chunk({1000}).rate(DataRate::zero()).run("fluid", fetch_in_order);
  EXPECT_EQ(load.outcome, LoadOutcome::kUnfinished);
  EXPECT_FALSE(load.ttft());
  EXPECT_TRUE(load.violated());
  EXPECT_EQ(load.quality, 0.0);
}

}  // namespace
}  // namespace sluice
