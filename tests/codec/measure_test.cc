// What `codec profile` measures: attention error checked by head, lines through times, sizes that
// add up.
#include "codec/measure/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "codec/measure/attention_error.h"
#include "codec/measure/linear_fit.h"
#include "codec/token_importance.h"
#include "tests/codec/made_caches.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

// One layer, two KV heads of one dim, two tokens; four query heads with the queries of both tokens,
// all keys 0: every visible token has the same weight, so outputs are plain means of values.
struct MadeCapture {
  std::shared_ptr<std::vector<float>> query_values = std::make_shared<std::vector<float>>(8, 1.0F);
  Capture capture;

  MadeCapture()
      : capture{.cache = KvCache::allocate(
                    {.facts = {},
                     .layers = {layer_of(
                         0, {.dtype = Dtype::kFp32, .heads = 2, .tokens = 2, .dim = 1})}}),
                .token_ids = {},
                .queries = {},
                .query_first_token = 0,
                .other_facts = {},
                .notes = {}} {
    set_values({{4, 8}, {1, 3}});
    const TensorShape shape{.dtype = Dtype::kFp32, .heads = 4, .tokens = 2, .dim = 1};
    capture.queries.push_back(
        {.layer = 0,
         .values = {shape, reinterpret_cast<const std::byte*>(query_values->data()),
                    head_major(shape)}});
  }
  void set_values(const std::vector<std::vector<float>>& by_head) {
    set_values(capture.cache, by_head);
  }
  static void set_values(KvCache& cache, const std::vector<std::vector<float>>& by_head) {
    const MutableTensorView values = cache.mutable_tensor(0, TensorKind::kValue);
    for (std::int64_t head = 0; head < 2; ++head) {
      for (std::int64_t token = 0; token < 2; ++token) {
        values.set(head, token, 0,
                   by_head[static_cast<std::size_t>(head)][static_cast<std::size_t>(token)]);
      }
    }
  }
};

TEST(AttentionError, IsNoneForTheSameCache) {
  const MadeCapture made;
  const auto reference = AttentionReference::make(made.capture);
  ASSERT_TRUE(reference.ok());
  EXPECT_EQ(reference->error_of(made.capture.cache.view()), 0);
}

TEST(AttentionError, CountsCausalQueriesAndGroupedHeadsByHand) {
  const MadeCapture made;
  const auto reference = AttentionReference::make(made.capture);
  ASSERT_TRUE(reference.ok());
  // KV head 0 was 4, 8: outputs 4 (first query sees one token) and 6. Its second value becomes 10:
  // outputs 4 and 7. Query heads 0 and 1 see errors 0 and 1/6; heads 2 and 3 attend to KV head 1
  // and see none. Mean of 8: (2/6) / 8.
  KvCache damaged = KvCache::allocate(shape_of(made.capture.cache.view()));
  MadeCapture::set_values(damaged, {{4, 10}, {1, 3}});
  EXPECT_NEAR(reference->error_of(damaged.view()), 2.0 / 6 / 8, 1e-7);
  // Relative length of the change of all values: keys are all 0 and left out; sqrt(4 / (16 + 64 + 1
  // + 9)).
  EXPECT_NEAR(value_error(made.capture.cache.view(), damaged.view()), std::sqrt(4.0 / 90), 1e-7);
}

TEST(AttentionError, WeightsFollowSoftmaxOfScaledProducts) {
  MadeCapture made;
  // Keys 0 and ln 3, query 1, dim 1: weights 1/4 and 3/4; values 4, 8 give 7.
  KvCache& cache = made.capture.cache;
  cache.mutable_tensor(0, TensorKind::kKey).set(0, 1, 0, std::log(3.0F));
  const auto reference = AttentionReference::make(made.capture);
  ASSERT_TRUE(reference.ok());
  KvCache damaged = KvCache::allocate(shape_of(cache.view()));  // keys all 0: 6 instead of 7
  MadeCapture::set_values(damaged, {{4, 8}, {1, 3}});
  EXPECT_NEAR(reference->error_of(damaged.view()), 2.0 / 7 / 8, 1e-6);
}

TEST(AttentionError, DroppedTokensAreAbsent) {
  const MadeCapture made;
  const auto reference = AttentionReference::make(made.capture);
  ASSERT_TRUE(reference.ok());
  // The first token is gone. First query: sees nothing, gives 0, error 1. Second query of KV head 0
  // gets 8 where it was 6, of KV head 1 gets 3 where it was 2.
  const KvView damaged = slice_tokens(made.capture.cache.view(), {1, 2});
  EXPECT_NEAR(reference->error_of(damaged), (4 * 1 + 2 * (2.0 / 6) + 2 * (1.0 / 2)) / 8, 1e-7);
  // Values 4 and 1 of 4, 8, 1, 3 are gone.
  EXPECT_NEAR(value_error(made.capture.cache.view(), damaged), std::sqrt(17.0 / 90), 1e-7);
}

TEST(TokenImportance, SharesOutTheAttentionOfTheQueriesByHand) {
  const MadeCapture made;  // keys are all 0: the first query gives token 0 all, the second halves
  const auto importance = token_importance(made.capture);
  ASSERT_TRUE(importance.ok());
  const TokenImportance::Layer& layer = importance->layers.at(0);
  EXPECT_EQ(layer.positions, (Positions{0, 1}));
  EXPECT_THAT(layer.total, testing::ElementsAre(1.5F, 0.5F));
  EXPECT_THAT(layer.observed, testing::ElementsAre(1.5F, 0.5F));  // fewer queries than the window
  EXPECT_NEAR(layer.root_mean_square[0], std::sqrt(1.25 / 2), 1e-7);
  EXPECT_NEAR(layer.root_mean_square[1], std::sqrt(0.25 / 2), 1e-7);
  const KvView part = slice_tokens(made.capture.cache.view(), {1, 2});
  EXPECT_THAT(importance->of(part.layers[0]), testing::ElementsAre(layer.root_mean_square[1]));
  KvLayer<TensorView> other = part.layers[0];
  other.first_token = 2;
  EXPECT_TRUE(importance->of(other).empty());
}

TEST(AttentionError, NeedsQueriesAndRotatedKeys) {
  MadeCapture made;
  made.capture.queries.clear();
  EXPECT_FALSE(AttentionReference::make(made.capture).ok());
}

TEST(LinearFit, FindsTheLineThroughExactPoints) {
  const TimePoint points[] = {{1000, 7us}, {2000, 9us}, {4000, 13us}};  // 5 us + 2 ns each
  const LinearTime line = fit_time(points);
  EXPECT_EQ(line.fixed, 5us);
  EXPECT_NEAR(line.ns_per_element, 2, 1e-9);
}

TEST(LinearFit, NeverClaimsNegativeTime) {
  const TimePoint convex[] = {{1000, 1us}, {2000, 3us}};
  EXPECT_EQ(fit_time(convex).fixed, 0ns);
  EXPECT_GT(fit_time(convex).ns_per_element, 0);
  const TimePoint falling[] = {{1000, 9us}, {2000, 7us}};
  EXPECT_EQ(fit_time(falling).ns_per_element, 0);
  EXPECT_EQ(fit_time(falling).fixed, 8us);
  const TimePoint one[] = {{1000, 4us}};
  EXPECT_EQ(fit_time(one).fixed, 0ns);
  EXPECT_NEAR(fit_time(one).ns_per_element, 4, 1e-9);
}

TEST(LinearFit, TheMedianIgnoresOneSlowRun) {
  EXPECT_EQ(median({3us, 900us, 2us}), 3us);
  EXPECT_EQ(median({2us, 4us}), 3us);
}

TEST(Measure, EveryLevelOfTheSampleIsMeasuredAndRawHasNoDamage) {
  const auto sample = read_capture(SLUICE_SOURCE_DIR "/tests/data/smollm2-gettysburg.safetensors");
  ASSERT_TRUE(sample.ok());
  std::vector<CodecLevel> levels;
  for (const char* codec : {"raw", "int8", "int4"}) {
    const auto found = find_codec_levels(codec);
    ASSERT_TRUE(found.ok());
    levels.insert(levels.end(), found->begin(), found->end());
  }
  std::vector<std::string> told;
  const auto profile =
      measure_codecs(*sample, {.chunk_tokens = 100, .repeats = 1, .levels = levels},
                     [&](const std::string& level) { told.push_back(level); });
  ASSERT_TRUE(profile.ok()) << profile.error().to_line();
  EXPECT_EQ(told.size(), 5U);
  ASSERT_EQ(profile->levels.size(), 5U);
  EXPECT_EQ(profile->chunk_tokens, 100);
  EXPECT_EQ(profile->damage_measure, "attention-output-error");
  EXPECT_EQ(profile->levels[0].id(), "raw@exact");
  EXPECT_EQ(profile->levels[0].damage, 0);
  EXPECT_EQ(profile->levels[1].id(), "int8@group-64");
  EXPECT_GT(profile->levels[1].damage, 0);
  EXPECT_LT(profile->levels[1].damage, 0.05);
  EXPECT_NEAR(profile->levels[1].bits_per_element, 8.25,
              0.05);  // 8.25 and the headers of three containers
}

TEST(Measure, APairIsMeasuredAgainstTheWholeCacheAndChosenOverAllChunks) {
  const auto sample = read_capture(SLUICE_SOURCE_DIR "/tests/data/smollm2-gettysburg.safetensors");
  ASSERT_TRUE(sample.ok());
  const auto measure = [&](std::int64_t chunk_tokens) {
    const auto profile = measure_codecs(*sample,
                                        {.chunk_tokens = chunk_tokens,
                                         .repeats = 1,
                                         .levels = *find_codec_levels("raw+h2o@exact+50")},
                                        [](const std::string&) {});
    EXPECT_TRUE(profile.ok()) << profile.error().to_line();
    return profile->levels.at(0);
  };
  const LevelFacts whole = measure(256), cut = measure(100);
  EXPECT_EQ(whole.id(), "raw+h2o@exact+50");
  EXPECT_NEAR(whole.bits_per_element, 8, 0.02);
  EXPECT_NEAR(cut.bits_per_element, 8, 0.04);
  EXPECT_GT(cut.bits_per_element_sd, 1);  // the last chunk keeps its tokens, the first drops most
  EXPECT_DOUBLE_EQ(cut.damage, whole.damage);  // the same tokens, however they are cut
}

TEST(Measure, APrefixSaysWhichItRefines) {
  const auto sample = read_capture(SLUICE_SOURCE_DIR "/tests/data/smollm2-gettysburg.safetensors");
  ASSERT_TRUE(sample.ok());
  const auto profile = measure_codecs(
      *sample,
      {.chunk_tokens = 256,
       .repeats = 1,
       .levels = {*find_codec_level("sluice@embedded-1"), *find_codec_level("sluice@embedded-0")}},
      [](const std::string&) {});
  ASSERT_TRUE(profile.ok()) << profile.error().to_line();
  EXPECT_EQ(profile->levels[0].id(), "sluice@embedded-1");
  EXPECT_EQ(profile->levels[0].refines, "embedded-0");
  EXPECT_GT(profile->levels[0].bits_per_element, profile->levels[1].bits_per_element);
  EXPECT_FALSE(profile->levels[1].refines);
}

TEST(Measure, WithoutQueriesDamageIsTheErrorOfTheValues) {
  auto sample = read_capture(SLUICE_SOURCE_DIR "/tests/data/smollm2-gettysburg.safetensors");
  ASSERT_TRUE(sample.ok());
  sample->queries.clear();
  const auto profile = measure_codecs(
      *sample, {.chunk_tokens = 256, .repeats = 1, .levels = *find_codec_levels("int4")},
      [](const std::string&) {});
  ASSERT_TRUE(profile.ok());
  EXPECT_EQ(profile->damage_measure, "value-error");
}

}  // namespace
}  // namespace sluice
