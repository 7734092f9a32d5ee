// A transfer or decode that fails costs time, not the load: the chunk is absent again and the
// policy is asked again, within bounds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/session/faulty_bench.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::EndsWith;
using ::testing::HasSubstr;

TransferFault stalls(std::int64_t came = 0) {
  return {.why = TransferFailure::kStalled, .came = DataSize::bytes(came)};
}
TransferFault refused() {
  return {.why = TransferFailure::kRefused, .came = {}};
}

// Three levels, the cheaper the more damage: 1000, 500 and 200 bytes.
LoadBench three_levels() {
  LoadBench bench;
  bench.plan.levels = {
      {.id = "fine@1", .codec = "fine", .level = "1", .damage = 0.0, .refines = {}},
      {.id = "fine@2", .codec = "fine", .level = "2", .damage = 0.1, .refines = {}},
      {.id = "fine@3", .codec = "fine", .level = "3", .damage = 0.2, .refines = {}}};
  return bench;
}

std::vector<std::optional<std::int32_t>> levels_of(const FaultyOutcome& outcome) {
  std::vector<std::optional<std::int32_t>> levels;
  for (const Transfer& t : outcome.transfers) levels.push_back(t.content->level);
  return levels;
}

using Levels = std::vector<std::optional<std::int32_t>>;

TEST(Recovering, AFailedTransferIsTriedAgainAndItsBytesAreCounted) {
  // 10 ms until it fails with 300 bytes here; then 10 request, 1 transfer, 10 flight, 5 decode, 25
  // first token.
  LoadBench bench = LoadBench().chunk({1000});
  const FaultyOutcome outcome = run_with_faults(bench, fetch_in_order, {stalls(300)});
  EXPECT_EQ(outcome.load.ttft(), 61ms) << outcome.load.failure;
  EXPECT_EQ(outcome.load.bytes_moved.bytes(), 1300);
  EXPECT_EQ(outcome.load.chunks.at(0).bytes.bytes(), 1300);
  EXPECT_EQ(outcome.load.chunks.at(0).reason,
            "next [after 1 failure, last: nothing came for too long]");
  // The buffer of the first try is gone before that of the second: never 2000 encoded bytes.
  EXPECT_EQ(outcome.load.peak_memory.bytes(), 2'001'000);
}

TEST(Recovering, ThePolicySeesHowOftenAChunkFailed) {
  LoadBench bench = three_levels().chunk({1000, 500, 200});
  const auto rule = [](const Observation& o) -> Decision {
    const ChunkView& c = o.chunks[0];
    if (c.phase != ChunkPhase::kAbsent) return {{Wait{}}, "wait"};
    return {{Fetch{.chunk = 0, .level = c.failures}}, "one cheaper after each failure"};
  };
  const FaultyOutcome outcome = run_with_faults(bench, rule, {stalls(), stalls()});
  EXPECT_EQ(levels_of(outcome), (Levels{0, 1, 2}));
  EXPECT_EQ(outcome.load.outcome, LoadOutcome::kCompleted);
  EXPECT_EQ(outcome.load.chunks.at(0).level, "fine@3");
}

TEST(Recovering, ALevelThatFailedTwiceIsReplacedByTheNextCheaperOne) {
  LoadBench bench = three_levels().chunk({1000, 500, 200});
  const FaultyOutcome outcome = run_with_faults(bench, fetch_in_order, {stalls(), stalls()});
  EXPECT_EQ(levels_of(outcome), (Levels{0, 0, 1}));
  EXPECT_EQ(outcome.load.chunks.at(0).level, "fine@2");
  EXPECT_THAT(outcome.load.chunks.at(0).reason,
              EndsWith("; the session takes fine@2 in the place of fine@1"));
}

TEST(Recovering, ARefusedLevelIsNotAskedForAgain) {
  LoadBench bench = three_levels().chunk({1000, 500, 200});
  const FaultyOutcome outcome = run_with_faults(bench, fetch_in_order, {refused(), refused()});
  EXPECT_EQ(levels_of(outcome), (Levels{0, 1, 2}));
  EXPECT_EQ(outcome.load.outcome, LoadOutcome::kCompleted);
}

TEST(Recovering, WhereNothingCheaperIsLeftADearerLevelIsTaken) {
  LoadBench bench = three_levels().chunk({1000, 500, 200});
  const auto rule = [](const Observation& o) -> Decision {
    if (o.chunks[0].phase != ChunkPhase::kAbsent) return {{Wait{}}, "wait"};
    return {{Fetch{.chunk = 0, .level = 2}}, "cheapest"};
  };
  EXPECT_EQ(levels_of(run_with_faults(bench, rule, {refused()})), (Levels{2, 1}));
}

TEST(Recovering, AfterFourFailuresTheSessionRecomputesTheChunk) {
  // 4 x 10 ms of failures, then a prefill of 300 and a first token of 25.
  LoadBench bench = LoadBench().chunk({1000});
  const FaultyOutcome outcome =
      run_with_faults(bench, fetch_in_order, {stalls(), stalls(), stalls(), stalls()});
  EXPECT_EQ(outcome.transfers.size(), 4u);
  EXPECT_EQ(outcome.load.ttft(), 365ms) << outcome.load.failure;
  EXPECT_EQ(outcome.load.chunks.at(0).action, ChunkAction::kRecomputed);
  EXPECT_THAT(outcome.load.chunks.at(0).reason,
              HasSubstr("the session recomputes it [after 4 failures"));
}

TEST(Recovering, ARecomputeAfterFailuresWaitsForEarlierChunksToo) {
  // Chunk 1 fails four times by 40 ms; chunk 0 is fetched after that and resident at 66 ms, and
  // only then the prefill of chunk 1 begins.
  LoadBench bench = LoadBench().chunk({1000}).chunk({1000});
  const auto rule = [](const Observation& o) -> Decision {
    if (o.transfers_in_flight > 0) return {{Wait{}}, "in flight"};
    for (const std::int32_t i : {1, 0}) {
      if (o.chunks[static_cast<std::size_t>(i)].phase == ChunkPhase::kAbsent)
        return {{Fetch{.chunk = i}}, "last first"};
    }
    return {{Wait{}}, "all here"};
  };
  const FaultyOutcome outcome =
      run_with_faults(bench, rule, {stalls(), stalls(), stalls(), stalls()});
  EXPECT_EQ(outcome.load.chunks.at(1).compute_began_at, kRunStart + 66ms) << outcome.load.failure;
  EXPECT_EQ(outcome.load.ttft(), 391ms);
}

TEST(Recovering, AChunkThatCannotBeRecomputedFailsTheLoadAfterSixFailures) {
  LoadBench bench = LoadBench().chunk({10}).chunk({1000});
  bench.plan.chunks[1].recompute_time.reset();
  FaultyNetwork::Script script(7, TransferFault{.why = TransferFailure::kLinkDown, .came = {}});
  script[0].reset();
  const FaultyOutcome outcome = run_with_faults(bench, fetch_in_order, script);
  EXPECT_EQ(outcome.load.outcome, LoadOutcome::kFailed);
  EXPECT_EQ(outcome.load.failure, "chunk 1 failed 6 times, last: the link went down");
  EXPECT_EQ(outcome.transfers.size(), 7u);
}

TEST(Recovering, ATextThatIsRefusedIsReplacedByTheCheapestLevel) {
  LoadBench bench = three_levels().chunk({1000, 500, 200});
  bench.plan.chunks[0].text_size = DataSize::bytes(40);
  const auto rule = [](const Observation& o) -> Decision {
    if (o.chunks[0].phase != ChunkPhase::kAbsent) return {{Wait{}}, "wait"};
    return {{Recompute{.chunk = 0}}, "always"};
  };
  const FaultyOutcome outcome = run_with_faults(bench, rule, {refused()});
  EXPECT_EQ(levels_of(outcome), (Levels{std::nullopt, 2}));
  EXPECT_EQ(outcome.load.outcome, LoadOutcome::kCompleted) << outcome.load.failure;
}

TEST(Recovering, AFailedDecodeMakesTheChunkAbsentAndFreesItsBytes) {
  // 21 ms + 5 decode, which fails; once more 21 + 5, then 25.
  LoadBench bench = LoadBench().chunk({1000});
  const FaultyOutcome outcome = run_with_faults(bench, fetch_in_order, {}, {0});
  EXPECT_EQ(outcome.load.ttft(), 77ms) << outcome.load.failure;
  EXPECT_EQ(outcome.load.bytes_moved.bytes(), 2000);
  EXPECT_EQ(outcome.load.peak_memory.bytes(), 2'001'000);
  EXPECT_THAT(outcome.load.chunks.at(0).reason,
              HasSubstr("it could not be decoded: section 1 is damaged"));
}

TEST(Recovering, AStartThatCountedOnAFailedDecodeIsTakenBack) {
  LoadBench bench = LoadBench().chunk({1000});
  const auto rule = [](const Observation& o) -> Decision {
    if (o.chunks[0].phase == ChunkPhase::kAbsent) return {{Fetch{.chunk = 0}}, "fetch"};
    if (o.chunks[0].phase == ChunkPhase::kArrived) return {{Start{}}, "go"};
    return {{Wait{}}, "wait"};
  };
  EXPECT_EQ(run_with_faults(bench, rule, {}, {0}).load.ttft(), 77ms);
}

LoadBench layered() {
  LoadBench bench;
  bench.plan.levels = {
      {.id = "layered@2", .codec = "layered", .level = "2", .damage = 0.0, .refines = 1},
      {.id = "layered@1", .codec = "layered", .level = "1", .damage = 0.1, .refines = {}}};
  return bench.chunk({1'000'000, 100'000});
}

// The base, then its refinement again and again as long as it is missing.
Decision base_then_refinement(const Observation& o) {
  const ChunkView& c = o.chunks[0];
  if (c.phase == ChunkPhase::kAbsent) return {{Fetch{.chunk = 0, .level = 1}}, "base"};
  if (c.phase == ChunkPhase::kResident && c.level == 1 && !c.fetching)
    return {{Fetch{.chunk = 0, .level = 0}}, "refine"};
  return {{Wait{}}, "wait"};
}

TEST(Recovering, ARefinementThatFailsTwiceLeavesItsBase) {
  // Base: 10 + 100 + 10 + 5 = 125 ms. Two failures of 10 ms, then the first token of 25.
  LoadBench bench = layered();
  const FaultyOutcome outcome =
      run_with_faults(bench, base_then_refinement, {std::nullopt, stalls(), stalls()});
  EXPECT_EQ(outcome.load.ttft(), 170ms) << outcome.load.failure;
  EXPECT_EQ(outcome.load.chunks.at(0).level, "layered@1");
  EXPECT_DOUBLE_EQ(outcome.load.quality, 0.9);
}

TEST(Recovering, AFailedDecodeOfARefinementLeavesItsBase) {
  // Once the refinement has arrived all is here and Wait means Start: 125 + 10 + 900 + 10 + 5 + 25.
  LoadBench bench = layered();
  const FaultyOutcome outcome = run_with_faults(bench, base_then_refinement, {}, {1});
  EXPECT_EQ(outcome.load.ttft(), 1075ms) << outcome.load.failure;
  EXPECT_EQ(levels_of(outcome), (Levels{1, 0}));
  EXPECT_EQ(outcome.load.chunks.at(0).level, "layered@1");
}

TEST(Recovering, ARefinementUnderWayGoesWithABaseThatCannotBeDecoded) {
  // The base fails at 125 ms while its refinement is being fetched: both are asked for again.
  LoadBench bench = layered();
  const auto rule = [](const Observation& o) -> Decision {
    const ChunkView& c = o.chunks[0];
    if (c.phase == ChunkPhase::kAbsent) return {{Fetch{.chunk = 0, .level = 1}}, "base"};
    if (c.level == 1 && !c.fetching) return {{Fetch{.chunk = 0, .level = 0}}, "refine"};
    return {{Wait{}}, "wait"};
  };
  const FaultyOutcome outcome = run_with_faults(bench, rule, {}, {0});
  EXPECT_EQ(outcome.load.outcome, LoadOutcome::kCompleted) << outcome.load.failure;
  EXPECT_EQ(levels_of(outcome), (Levels{1, 0, 1, 0}));
  EXPECT_EQ(outcome.load.chunks.at(0).level, "layered@2");
}

}  // namespace
}  // namespace sluice
