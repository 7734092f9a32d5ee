// What `anytime` does, with every instant on paper: 8 Mbit/s is one byte per microsecond, the round
// trip is 20 ms; sizes and times in layered_load.h. The margin is zero where nothing else is said.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/policies/layered_load.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr DataRate kbit(std::int64_t per_second) {
  return DataRate::bits_per_sec(1000 * per_second);
}

LoadRecord run_exact(LoadBench& bench) {
  LoadRecord load = run_policy(bench, "anytime:margin=0s");
  EXPECT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  return load;
}

TEST(AnytimeOnAConstantLink, SendsEverythingWhereEverythingFits) {
  // Base at 10 + 100 + 10 = 120 ms, first digit 20 + 200 later, second 20 + 300 later: 660; one
  // decode of 40, first token at 725.
  LoadBench bench = layered_load(1);
  const LoadRecord load = run_exact(bench);
  EXPECT_EQ(load.ttft(), 725ms);
  EXPECT_EQ(load.quality, 1.0);
  EXPECT_EQ(load.bytes_moved.bytes(), 600'000);
}

TEST(AnytimeOnAConstantLink, AsksForNoDigitThatWouldComeTooLateAndStartsEarly) {
  // By 475 ms all must be decoded: the second digit would be at 660 + 40. The first is at 340.
  LoadBench bench = layered_load(1);
  bench.plan.slo = 500ms;
  const LoadRecord load = run_exact(bench);
  EXPECT_EQ(load.ttft(), 385ms);
  EXPECT_EQ(load.chunks[0].level, "layered@2");
  EXPECT_EQ(load.bytes_moved.bytes(), 300'000);
}

TEST(AnytimeOnAConstantLink, SendsBasesThenTheDigitsThatRemoveMostDamagePerByte) {
  // Bases of chunk 1 and 0 at 120 and 220 ms; their first digits, asked for at 120 and 220, at 420
  // and 620; the second digit of chunk 1, asked for at 420, at 920. That of chunk 0 would be at
  // 1220. Decodes take 20 + 40 and must end at 975: chunk 0 from 915 to 935 while the last digit
  // comes, chunk 1 from 935 to 975.
  LoadBench bench = layered_load(2);
  const LoadRecord load = run_exact(bench);
  EXPECT_EQ(load.chunks[0].level, "layered@2");
  EXPECT_EQ(load.chunks[0].resident_at, kRunStart + 935ms);
  EXPECT_EQ(load.chunks[1].level, "layered@3");
  EXPECT_EQ(load.chunks[1].arrived_at, kRunStart + 920ms);
  EXPECT_EQ(load.ttft(), 1000ms);
  EXPECT_FALSE(load.violated());
  EXPECT_EQ(load.bytes_moved.bytes(), 900'000);
  EXPECT_DOUBLE_EQ(load.quality, 0.95);
}

TEST(AnytimeOnAConstantLink, EndsItsMarginEarlier) {
  LoadBench bench = layered_load(2);
  EXPECT_EQ(run_policy(bench, "anytime:margin=5ms").ttft(), 995ms);
}

TEST(AnytimeOnALinkThatDrops, CutsWhatDoesNotComeAndMeetsTheDeadline) {
  // Both first digits are asked for before the rate falls to a tenth at 300 ms, and none comes. The
  // decodes of 20 ms that they would need are due at 935: that of chunk 0 is cut and its base
  // decoded until 945; with 20 ms for chunk 1 the next is due at 955, ends at 965, first token at
  // 990.
  LoadBench bench = layered_load(2);
  bench.capacity({{0ms, kbit(8000)}, {300ms, kbit(800)}});
  const LoadRecord load = run_exact(bench);
  EXPECT_EQ(load.chunks[0].resident_at, kRunStart + 945ms);
  EXPECT_EQ(load.chunks[1].resident_at, kRunStart + 965ms);
  EXPECT_EQ(load.ttft(), 990ms);
  EXPECT_DOUBLE_EQ(load.quality, 0.7);
}

TEST(AnytimeOnASlowLink, SendsBasesAloneAndStartsAtOnce) {
  // A quarter byte per microsecond: bases at 420 and 820 ms, no digit would come by 975. Decodes
  // until 840, first token at 865: ten less than the lowest rung, which asks for one after the
  // other.
  LoadBench bench = layered_load(2);
  bench.rate(kbit(2000));
  const LoadRecord load = run_exact(bench);
  EXPECT_EQ(load.ttft(), 865ms);
  EXPECT_EQ(load.bytes_moved.bytes(), 200'000);
  EXPECT_DOUBLE_EQ(load.quality, 0.7);
  EXPECT_EQ(run_policy(bench, "fixed:level=layered@1").ttft(), 875ms);
}

TEST(AnytimeInAnOutage, RecomputesAtTheLastInstantAtWhichThatIsInTime) {
  // Two chunks of 300 ms must end at 975: they begin at 375 ms.
  LoadBench bench = layered_load(2);
  bench.capacity({{0ms, DataRate::zero()}});
  const LoadRecord load = run_exact(bench);
  EXPECT_EQ(load.chunks[0].compute_began_at, kRunStart + 375ms);
  EXPECT_EQ(load.ttft(), 1000ms);
  EXPECT_EQ(load.recomputed_tokens, 3000);
  EXPECT_EQ(load.quality, 1.0);
}

TEST(AnytimeInAnOutage, RecomputesOnlyWhatHasNotCome) {
  // The base of chunk 1 arrives at 120 ms, then nothing. 300 ms for chunk 0 and 10 for the base:
  // due at 665. While chunk 0 is recomputed (its prefill needs no other chunk) nothing else
  // happens; the base of chunk 1 is decoded behind it.
  LoadBench bench = layered_load(2);
  bench.capacity({{0ms, kbit(8000)}, {120ms, DataRate::zero()}});
  const LoadRecord load = run_exact(bench);
  EXPECT_EQ(load.chunks[0].action, ChunkAction::kRecomputed);
  EXPECT_EQ(load.chunks[1].level, "layered@1");
  EXPECT_FALSE(load.violated()) << to_text(*load.ttft());
  EXPECT_DOUBLE_EQ(load.quality, 0.85);
}

TEST(AnytimeInAnOutage, WaitsForTheLinkWhereNothingCanBeRecomputed) {
  // Bases at 1510 + 100 and + 200 ms: late, decoded on arrival, nothing more is sent.
  LoadBench bench = layered_load(2);
  for (ChunkPlan& chunk : bench.plan.chunks) chunk.recompute_time.reset();
  bench.capacity({{0ms, DataRate::zero()}, {1500ms, kbit(8000)}});
  const LoadRecord load = run_exact(bench);
  EXPECT_EQ(load.ttft(), 1745ms);  // 1500 + 200 + 10 + 10 + 25
  EXPECT_EQ(load.bytes_moved.bytes(), 200'000);
}

TEST(AnytimePastItsDeadline, SendsTheSmallestAndDecodesItAsItComes) {
  // Bases at 120 and 220 ms, the last decode at 230.
  LoadBench bench = layered_load(2);
  bench.plan.slo = 10ms;
  const LoadRecord load = run_exact(bench);
  EXPECT_EQ(load.chunks[1].resident_at, kRunStart + 130ms);
  EXPECT_EQ(load.ttft(), 255ms);
  EXPECT_EQ(load.bytes_moved.bytes(), 200'000);
}

TEST(AnytimeThatFillsTheGpu, RecomputesFromTheFrontWhileDigitsOfTheOthersCome) {
  // Chunk 0 from 0 to 300 ms, chunk 1 from 300 to 600, chunk 2 from 600 to 900; chunk 3 keeps 40 ms
  // of decoding before 975, and its digits came meanwhile.
  LoadBench bench = layered_load(4);
  const LoadRecord load = run_policy(bench, "anytime:margin=0s,recompute=fill");
  ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
  EXPECT_EQ(load.recomputed_tokens, 4500);
  EXPECT_EQ(load.chunks[2].resident_at, kRunStart + 900ms);
  EXPECT_NE(load.chunks[3].level, "layered@1");
  EXPECT_FALSE(load.violated());
}

TEST(AnytimeWithoutLayers, SendsTheSmallestLevelLikeThatRung) {
  LoadBench bench = layered_load(1);
  std::vector<LevelInfo> levels = bench.plan.levels.all();
  for (LevelInfo& level : levels) level.refines.reset();
  bench.plan.levels = std::move(levels);
  const LoadRecord load = run_exact(bench);
  EXPECT_EQ(load.chunks[0].level, "layered@1");
  EXPECT_EQ(load.ttft(), 155ms);  // 120 + 10 + 25
}

TEST(AnytimeParameters, OutOfRangeAreRefused) {
  const LoadBench bench = layered_load(1);
  const auto fault_of = [&](const std::string& policy) {
    auto made = make_policy(*parse_policy(policy), bench.plan.levels.all());
    return made.ok() ? std::string("no error") : made.error().to_line();
  };
  EXPECT_THAT(fault_of("anytime:margin=-1ms"), HasSubstr("margin"));
  EXPECT_THAT(fault_of("anytime:quantile=1.5"), HasSubstr("quantile"));
  EXPECT_THAT(fault_of("anytime:margin=5"), HasSubstr("margin"));
  EXPECT_THAT(fault_of("anytime:recompute=never"), HasSubstr("use `rescue` or `fill`"));
}

}  // namespace
}  // namespace sluice
