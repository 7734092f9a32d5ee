// Chunks that are resident when the load arrives, and contexts of many chunks. 8 Mbit/s is 1 byte
// per microsecond, round trip 20 ms, decode 5 ms, first token 25 ms, a decoded chunk 2 MB.
#include <gtest/gtest.h>

#include "tests/session/load_bench.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

TEST(ReusedChunks, OnlyTheOthersTravel) {
  LoadBench bench;
  bench.chunk({1'000'000}).chunk({1'000'000}).chunk({1'000'000});
  bench.plan.chunks[0].resident = bench.plan.chunks[1].resident = true;
  std::vector<ChunkPhase> seen;
  const LoadRecord load = bench.run("fluid", [&](const Observation& o) {
    if (seen.empty()) {
      for (const ChunkView& chunk : o.chunks) seen.push_back(chunk.phase);
    }
    return fetch_in_order(o);
  });
  ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(seen, (std::vector{ChunkPhase::kResident, ChunkPhase::kResident, ChunkPhase::kAbsent}));
  EXPECT_EQ(load.ttft(), 1050ms);  // as if the third chunk were alone
  EXPECT_EQ(load.bytes_moved.bytes(), 1'000'000);
  EXPECT_EQ(load.context_tokens, 4500);
  EXPECT_EQ(load.recomputed_tokens, 0);
  EXPECT_EQ(load.quality, 1.0);
  EXPECT_EQ(load.peak_memory.bytes(), 3 * 2'000'000 + 1'000'000);
  const ChunkRecord& reused = load.chunks.at(0);
  EXPECT_EQ(reused.action, ChunkAction::kReused);
  EXPECT_EQ(reused.level, "reused");
  EXPECT_EQ(reused.bytes, DataSize::zero());
  EXPECT_EQ(reused.requested_at, std::nullopt);
  EXPECT_EQ(reused.resident_at, kRunStart);
}

TEST(ReusedChunks, ALoadThatHasAllOfThemGoesStraightToTheFirstToken) {
  LoadBench bench;
  bench.chunk({1'000'000}).chunk({1'000'000});
  for (ChunkPlan& chunk : bench.plan.chunks) chunk.resident = true;
  int asked = 0;
  const LoadRecord load = bench.run("fluid", [&](const Observation&) -> Decision {
    ++asked;
    return {{Fetch{.chunk = 0}}, "not needed"};
  });
  ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(asked, 0);
  EXPECT_EQ(load.kv_ready_at, kRunStart);
  EXPECT_EQ(load.ttft(), 25ms);
  EXPECT_EQ(load.bytes_moved, DataSize::zero());
}

TEST(ReusedChunks, AChunkBehindThemIsRecomputedAtOnce) {
  LoadBench bench;
  bench.chunk({1'000'000}).chunk({1'000'000});
  bench.plan.chunks[0].resident = true;
  const auto rule = [](const Observation& o) -> Decision {
    if (o.chunks[1].phase == ChunkPhase::kAbsent) return {{Recompute{.chunk = 1}}, "cheaper"};
    return {{Wait{}}, "wait"};
  };
  EXPECT_EQ(bench.run("fluid", rule).ttft(), 325ms);  // 300 + 25
}

TEST(ReusedChunks, CannotBeFetchedAgain) {
  LoadBench bench;
  bench.chunk({1'000'000}).chunk({1'000'000});
  bench.plan.chunks[0].resident = true;
  const LoadRecord load = bench.run("fluid", [](const Observation&) -> Decision {
    return {{Fetch{.chunk = 0}}, "again"};
  });
  EXPECT_EQ(load.outcome, LoadOutcome::kFailed);
  EXPECT_EQ(load.failure, "chunk 0 is here, and fine@1 does not refine it");
}

// 100 500 tokens in 67 chunks. Chunk by chunk, the receiver holds the decoded context, and beside
// it the encoded bytes of the chunk that travels and of the one that is being decoded, however long
// the context.
TEST(LongContexts, EncodedBytesLeaveOnceTheyAreDecoded) {
  constexpr int kNumChunks = 67;
  LoadBench bench;
  for (int i = 0; i < kNumChunks; ++i) bench.chunk({100'000});
  const LoadRecord load = bench.run("fluid", fetch_in_order);
  ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(load.context_tokens, 100'500);
  // The top is at the end: all decoded, the last chunk's encoded bytes still there.
  EXPECT_EQ(load.peak_memory.bytes(), kNumChunks * 2'000'000 + 100'000);
}

TEST(LongContexts, AskedForAllAtOnceTheyHoldEveryEncodedByteFromTheStart) {
  constexpr int kNumChunks = 67;
  LoadBench bench;
  for (int i = 0; i < kNumChunks; ++i)
    bench.chunk({3'000'000}).rate(DataRate::bits_per_sec(8'000'000'000));
  const LoadRecord load = bench.run("fluid", [](const Observation& o) -> Decision {
    Decision all{{}, "all"};
    for (const ChunkView& chunk : o.chunks) {
      if (chunk.phase == ChunkPhase::kAbsent) all.actions.push_back(Fetch{.chunk = chunk.index});
    }
    if (all.actions.empty()) all.actions.push_back(Wait{});
    return all;
  });
  ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_GE(load.peak_memory.bytes(), kNumChunks * 3'000'000);
}

}  // namespace
}  // namespace sluice
