// What is taken back leaves nothing behind: a cancelled text, refinement, decode or load.
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

LoadBench layered() {
  LoadBench bench;
  bench.plan.levels = {
      {.id = "layered@2", .codec = "layered", .level = "2", .damage = 0.0, .refines = 1},
      {.id = "layered@1", .codec = "layered", .level = "1", .damage = 0.1, .refines = {}}};
  return bench;
}

TEST(TakingBack, AChunkWhoseTextIsCancelledIsNotRecomputed) {
  LoadBench bench;
  bench.chunk({1000});
  bench.plan.chunks[0].text_size = DataSize::bytes(400);
  bool asked = false;
  const auto rule = [&asked](const Observation& o) -> Decision {
    if (!std::exchange(asked, true))
      return {{Recompute{.chunk = 0}, Cancel{.chunk = 0}, Fetch{.chunk = 0}}, "changed its mind"};
    EXPECT_FALSE(o.chunks[0].recomputing);
    return wait();
  };
  // 10 request, 1 transfer, 10 flight, 5 decode, 25 first token: no prefill of 300 in between.
  const LoadRecord load = bench.run("fluid", rule);
  EXPECT_EQ(load.ttft(), 51ms) << load.failure;
  EXPECT_EQ(load.recomputed_tokens, 0);
}

TEST(TakingBack, ATextThatIsNoLongerNeededDelaysNothing) {
  // The chunk has arrived (21 ms); its decode (5 ms) beats a text of one second.
  LoadBench bench;
  bench.chunk({1000});
  bench.plan.chunks[0].text_size = DataSize::bytes(1'000'000);
  const auto rule = [](const Observation& o) -> Decision {
    if (o.chunks[0].phase == ChunkPhase::kAbsent) return {{Fetch{.chunk = 0}}, "fetch"};
    if (o.chunks[0].phase == ChunkPhase::kArrived && !o.chunks[0].recomputing)
      return {{Recompute{.chunk = 0}}, "hedge"};
    return wait();
  };
  EXPECT_EQ(bench.run("fluid", rule).ttft(), 51ms);
}

TEST(TakingBack, StartIsLegalWhileAChunkThatArrivedIsAlsoRecomputed) {
  const auto rule = [](const Observation& o) -> Decision {
    if (o.chunks[0].phase == ChunkPhase::kAbsent) return {{Fetch{.chunk = 0}}, "fetch"};
    if (o.chunks[0].phase == ChunkPhase::kArrived)
      return {{Recompute{.chunk = 0}, Start{}}, "hedge and go"};
    return wait();
  };
  const LoadRecord load = LoadBench().chunk({1000}).run("fluid", rule);
  EXPECT_EQ(load.ttft(), 51ms) << load.failure;
}

TEST(TakingBack, NothingMayFollowStart) {
  const auto rule = [](const Observation& o) -> Decision {
    if (o.chunks[0].phase == ChunkPhase::kAbsent) return {{Fetch{.chunk = 0}}, "fetch"};
    if (o.chunks[0].phase == ChunkPhase::kArrived)
      return {{Start{}, Recompute{.chunk = 0}}, "both"};
    return wait();
  };
  EXPECT_THAT(LoadBench().chunk({1000}).run("fluid", rule).failure,
              HasSubstr("after it said start"));
}

TEST(TakingBack, ACancelledRefinementLeavesTheBytesOfItsBaseInMemory) {
  // Base 100 kB arrives and decodes for 5 ms; its refinement (900 kB more) is asked for and taken
  // back at once; then the chunk's 2 MB join the base: 2.1 MB is the peak.
  LoadBench bench = layered().chunk({1'000'000, 100'000});
  const auto rule = [](const Observation& o) -> Decision {
    const ChunkView& c = o.chunks[0];
    if (c.phase == ChunkPhase::kAbsent) return {{Fetch{.chunk = 0, .level = 1}}, "base"};
    if (c.phase == ChunkPhase::kArrived)
      return {{Fetch{.chunk = 0, .level = 0}, Cancel{.chunk = 0}, Wait{}, Start{}}, "no"};
    return wait();
  };
  const LoadRecord load = bench.run("fluid", rule);
  ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(load.peak_memory.bytes(), 2'100'000);
}

TEST(TakingBack, ARefinementThatIsNotDecodedAtTheEndGivesNoQuality) {
  // The refinement arrives at 1045 ms; its decode of one hour outlives the load.
  LoadBench bench = layered().chunk({1'000'000, 100'000});
  bench.plan.chunks[0].levels[0].decode_time = 1h;
  const auto rule = [](const Observation& o) -> Decision {
    const ChunkView& c = o.chunks[0];
    if (c.phase == ChunkPhase::kAbsent) return {{Fetch{.chunk = 0, .level = 1}}, "base"};
    if (c.level == 1 && !c.fetching) return {{Fetch{.chunk = 0, .level = 0}}, "refine"};
    return wait();
  };
  const LoadRecord load = bench.run("fluid", rule);
  EXPECT_EQ(load.outcome, LoadOutcome::kUnfinished);
  EXPECT_DOUBLE_EQ(load.quality, 0.9);
  EXPECT_EQ(load.chunks.at(0).level, "layered@1");
}

TEST(TakingBack, APolicyThatNeverWaitsFailsItsLoad) {
  const auto rule = [](const Observation&) -> Decision {
    return {{Fetch{.chunk = 0}, Cancel{.chunk = 0}}, "to and fro"};
  };
  EXPECT_THAT(LoadBench().chunk({1000}).run("fluid", rule).failure, HasSubstr("without waiting"));
}

TEST(TakingBack, OneDecisionForEachOfManyChunksIsNoFault) {
  LoadBench bench;
  for (int i = 0; i < 1500; ++i) bench.chunk({10});
  const auto rule = [](const Observation& o) -> Decision {
    for (const ChunkView& c : o.chunks) {
      if (c.phase == ChunkPhase::kAbsent) return {{Fetch{.chunk = c.index}}, "one more"};
    }
    return wait();
  };
  const LoadRecord load = bench.run("fluid", rule);
  EXPECT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  // All are asked for at once: 10 + 15 + 10, then 1500 decodes of 5 ms, the last ones after all.
  EXPECT_LE(load.chunks.at(1499).arrived_at.value(), kRunStart + 36ms);
}

TEST(TakingBack, ALoadThatIsGivenUpLeavesTheGpuToTheOthers) {
  TopologySpec topology{.nodes = {"store", "gpu"}, .links = {}};
  add_cable(topology, {.name = "link",
                       .from = NodeId{0},
                       .to = NodeId{1},
                       .capacity = {.name = "constant",
                                    .length = 1s,
                                    .steps = {{0s, DataRate::bits_per_sec(8'000'000)}}},
                       .trace_offset = {},
                       .delay = 10ms});
  LoadBench bench;
  for (int i = 0; i < 10; ++i) bench.chunk({1000});
  for (ChunkPlan& chunk : bench.plan.chunks) chunk.levels[0].decode_time = 1s;
  Result<Engine> engine = make_engine("fluid", topology, bench.transport);
  ASSERT_TRUE(engine.ok());
  SimGpu gpu(*engine->clock);
  ScriptedPolicy policy([](const Observation& o) -> Decision {
    Decision all{{}, "all"};
    for (const ChunkView& c : o.chunks) {
      if (c.phase == ChunkPhase::kAbsent) all.actions.push_back(Fetch{.chunk = c.index});
    }
    return all;
  });
  Session session(*engine->clock, *engine->network, gpu, policy, bench.plan, [] {});
  engine->clock->schedule(kRunStart, [&] { session.begin(); });
  engine->clock->schedule(kRunStart + 1500ms, [&] { session.abandon(); });
  engine->clock->run();
  // The decode that runs is finished (the second, begun at 1021 ms); the eight that wait are not.
  EXPECT_EQ(gpu.busy_time(), 2s);
}

}  // namespace
}  // namespace sluice
