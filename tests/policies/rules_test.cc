// Each policy's rule, with numbers that can be checked by head (see observation_builder.h).
#include <gtest/gtest.h>

#include "policies/registry.h"
#include "tests/policies/observation_builder.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr DataRate kMbit = DataRate::bits_per_sec(1'000'000);

Action decide(const std::string& policy, const ObservationBuilder& builder) {
  auto made = make_policy(*parse_policy(policy), builder.levels());
  EXPECT_TRUE(made.ok());
  const Decision decision = (*made)->decide(builder.build());
  EXPECT_EQ(decision.actions.size(), 1u);
  EXPECT_FALSE(decision.reason.empty());
  return decision.actions.front();
}

::testing::AssertionResult fetches(const Action& action, std::int32_t chunk, std::int32_t level) {
  const auto* fetch = std::get_if<Fetch>(&action);
  if (fetch == nullptr)
    return ::testing::AssertionFailure() << "not a fetch, but alternative " << action.index();
  if (fetch->chunk == chunk && fetch->level == level) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << "fetches chunk " << fetch->chunk << " at level " << fetch->level;
}

bool recomputes(const Action& action, std::int32_t chunk) {
  const auto* recompute = std::get_if<Recompute>(&action);
  return recompute != nullptr && recompute->chunk == chunk;
}

bool waits(const Action& action) {
  return std::holds_alternative<Wait>(action);
}

TEST(Fixed, FetchesTheNextChunkAtItsLevelOneTransferAtATime) {
  EXPECT_TRUE(fetches(decide("fixed:level=2", ObservationBuilder(3)), 0, 1));
  EXPECT_TRUE(
      fetches(decide("fixed:level=2", ObservationBuilder(3).phase(0, ChunkPhase::kArrived)), 1, 1));
  EXPECT_TRUE(waits(decide("fixed:level=2", ObservationBuilder(3).phase(0, ChunkPhase::kComing))));
  EXPECT_TRUE(
      waits(decide("fixed:level=2", ObservationBuilder(1).phase(0, ChunkPhase::kResident))));
}

TEST(RecomputeAll, NeverFetches) {
  EXPECT_TRUE(recomputes(decide("recompute", ObservationBuilder(2)), 0));
}

TEST(SeedRatio, TakesTheSmallestLevelWhateverTheRate) {
  for (const std::int64_t bps : {1'000, 1'000'000, 1'000'000'000}) {
    EXPECT_TRUE(fetches(
        decide("seed-ratio", ObservationBuilder(1).measured(DataRate::bits_per_sec(bps))), 0, 2))
        << bps;
  }
}

TEST(SeedRatio, TakesAnotherLevelOnlyWhenDecodeTimesDiffer) {
  // SLO 4 s. Fine: 4/1 = 4 per second; coarse: (4 - 3.5) / 0.25 = 2.
  EXPECT_TRUE(fetches(
      decide("seed-ratio", ObservationBuilder(1).decode_times(0s, 4s, 3500ms).measured(kMbit)), 0,
      0));
}

TEST(CacheGenReleased, TakesTheFinestLevelThatFitsAnEvenShareOfTheSlo) {
  // 4 chunks, SLO 4 s: 1 s each. Strictly less: the fine level's 1 s at 1 Mbit/s does not fit,
  // at 1.01 Mbit/s it does.
  EXPECT_TRUE(fetches(decide("cachegen-released", ObservationBuilder(4).foresees(kMbit)), 0, 1));
  EXPECT_TRUE(fetches(decide("cachegen-released",
                             ObservationBuilder(4).foresees(DataRate::bits_per_sec(1'010'000))),
                      0, 0));
  EXPECT_TRUE(fetches(
      decide("cachegen-released", ObservationBuilder(4).foresees(DataRate::bits_per_sec(300'000))),
      0, 2));
}

TEST(CacheGenReleased, RecomputesWhenNothingFitsAndCarriesNoBudgetOver) {
  EXPECT_TRUE(recomputes(
      decide("cachegen-released", ObservationBuilder(4).foresees(DataRate::bits_per_sec(200'000))),
      0));
  EXPECT_TRUE(
      recomputes(decide("cachegen-released", ObservationBuilder(4).foresees(DataRate::zero())), 0));
  // Late or early makes no difference to the share.
  EXPECT_TRUE(fetches(
      decide("cachegen-released", ObservationBuilder(4).now(3900ms).foresees(kMbit)), 0, 1));
}

TEST(CacheGenReleased, DividesByTheRoundedNotTheWholeNumberOfChunks) {
  // 9 400 tokens in chunks of 1 500 are 7 chunks, but the script divides the SLO by round(6.27) =
  // 6: 6 s / 6 = 1 s each.
  EXPECT_TRUE(fetches(
      decide("cachegen-released", ObservationBuilder(7).last_chunk_tokens(400).slo(6s).foresees(
                                      DataRate::bits_per_sec(1'000'001))),
      0, 0));
}

TEST(CacheGenPublished, SendsTheMiddleLevelBeforeAnythingIsMeasured) {
  EXPECT_TRUE(fetches(decide("cachegen-published", ObservationBuilder(4)), 0, 1));
  EXPECT_TRUE(fetches(decide("cachegen-published:first=1", ObservationBuilder(4)), 0, 2));
}

TEST(CacheGenPublished, AssumesTheLastThroughputForAllThatRemains) {
  // 4 chunks remain, 4 s: at 1 Mbit/s the fine level needs exactly 4 s and fits.
  EXPECT_TRUE(fetches(decide("cachegen-published", ObservationBuilder(4).measured(kMbit)), 0, 0));
  // 1 s later 3 s remain: fine needs 4 s, middle 2 s.
  EXPECT_TRUE(
      fetches(decide("cachegen-published", ObservationBuilder(4).now(1s).measured(kMbit)), 0, 1));
  // Past the deadline nothing fits: the smallest.
  EXPECT_TRUE(
      fetches(decide("cachegen-published", ObservationBuilder(4).now(5s).measured(kMbit)), 0, 2));
}

TEST(CacheGenPublished, RecomputesWhenTheRemainingTextFits) {
  // 4 chunks of 1 s prefill fit 4 s; with the GPU busy for 1 ms they do not.
  EXPECT_TRUE(
      recomputes(decide("cachegen-published", ObservationBuilder(4).recompute_time(1s)), 0));
  EXPECT_TRUE(fetches(
      decide("cachegen-published", ObservationBuilder(4).recompute_time(1s).gpu_wait(1ms)), 0, 1));
  EXPECT_TRUE(fetches(
      decide("cachegen-published", ObservationBuilder(4).recompute_time(std::nullopt)), 0, 1));
}

}  // namespace
}  // namespace sluice
