// The damage of every codec, level and reducer on the committed capture, under the queries that the
// model really asked: what must hold of any of them.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "codec/container/decode.h"
#include "codec/container/encode.h"
#include "codec/measure/attention_error.h"
#include "codec/registry.h"
#include "tests/test_name.h"

namespace sluice {
namespace {

struct Measured {
  double damage = 0;
  double bits_per_element = 0;
};

class SampleDamage : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto read = read_capture(SLUICE_SOURCE_DIR "/tests/data/smollm2-gettysburg.safetensors");
    ASSERT_TRUE(read.ok()) << read.error().to_line();
    sample_ = std::make_unique<Capture>(*std::move(read));
    auto made = AttentionReference::make(*sample_);
    ASSERT_TRUE(made.ok()) << made.error().to_line();
    reference_ = std::make_unique<AttentionReference>(*std::move(made));
    importance_ = std::make_unique<TokenImportance>(*token_importance(*sample_));
  }
  static void TearDownTestSuite() {
    importance_.reset();
    reference_.reset();
    sample_.reset();
  }
  // A level is measured once in a process, however often it is asked for.
  static Measured measured(CodecLevel level) {
    const auto [found, is_new] = measured_.try_emplace(level.id());
    if (!is_new) return found->second;
    const KvView& view = sample_->cache.view();
    const auto file = encode_container(view, level, {.importance = importance_.get()});
    EXPECT_TRUE(file.ok()) << file.error().to_line();
    if (!file) return {};
    const auto cache = decode_container(*file, level.id());
    EXPECT_TRUE(cache.ok()) << cache.error().to_line();
    if (!cache) return {};
    found->second = {
        reference_->error_of(cache->view()),
        bits_per_element(DataSize::bytes(std::ssize(*file)), num_elements(shape_of(view)))};
    return found->second;
  }
  static double damage(CodecLevel level) { return measured(level).damage; }
  static double damage(const std::string& name) {
    const auto level = find_codec_level(name);
    EXPECT_TRUE(level.ok()) << level.error().to_line();
    return level ? damage(*level) : NAN;
  }

 private:
  static inline std::unique_ptr<Capture> sample_;
  static inline std::unique_ptr<AttentionReference> reference_;
  static inline std::unique_ptr<TokenImportance> importance_;
  static inline std::map<std::string, Measured> measured_;
};

class SampleDamageOf : public SampleDamage, public testing::WithParamInterface<const Codec*> {};

TEST_P(SampleDamageOf, EveryLevelIsNoneWithoutLossAndElseGrowsFromLevelToLevel) {
  const Codec& codec = *GetParam();
  double finer = 0;
  for (std::size_t i = 0; i < codec.info.levels.size(); ++i) {  // best quality first
    const CodecLevel level{&codec, i};
    if (codec.info.lossless) {
      EXPECT_EQ(damage(level), 0) << level.id();
      continue;
    }
    EXPECT_GE(1.02 * damage(level), finer) << level.id();  // noise of rounding: 2 %
    EXPECT_LT(damage(level), 1) << level.id();             // outputs of 0 have error 1
    finer = damage(level);
  }
  EXPECT_EQ(codec.info.lossless, finer == 0);
}

std::vector<const Codec*> every_codec() {
  std::vector<const Codec*> codecs;
  for (const Codec& codec : all_codecs()) codecs.push_back(&codec);
  return codecs;
}

INSTANTIATE_TEST_SUITE_P(Registry, SampleDamageOf, testing::ValuesIn(every_codec()),
                         [](const auto& codec) { return test_name(codec.param->info.id); });

TEST_F(SampleDamage, GrowsWithTheTokensThatAReducerDrops) {
  for (const char* codec : {"raw@exact", "int8@token"}) {
    for (const Reducer& reducer : all_reducers()) {
      CodecLevel level = *find_codec_level(codec);
      double last = damage(level);
      level.reducer = &reducer;
      for (std::size_t i = 0; i < reducer.info.levels.size(); ++i) {
        level.reducer_level = i;
        EXPECT_GT(damage(level), last) << level.id();
        last = damage(level);
      }
      EXPECT_LT(last, 1);
    }
  }
}

TEST_F(SampleDamage, OfTokensChosenByAttentionIsLessThanOfTheLatest) {
  for (const char* share : {"75", "50", "25"}) {
    const double blind = damage(std::string("raw+window@exact+") + share);
    for (const char* reducer : {"h2o", "snapkv", "prompt-drop"})
      EXPECT_LT(damage(std::string("raw+") + reducer + "@exact+" + share), blind) << reducer;
  }
}

TEST_F(SampleDamage, OfAPairIsNoMoreThanThatOfItsParts) {
  for (const char* reducer : {"h2o", "snapkv", "window", "prompt-drop"}) {
    const std::string dropped = std::string("raw+") + reducer + "@exact+50";
    const std::string pair = std::string("int8+") + reducer + "@token+50";
    EXPECT_LE(damage(pair), damage(dropped) + damage("int8@token")) << reducer;
    EXPECT_GT(damage(pair), damage(dropped)) << reducer;
  }
}

TEST_F(SampleDamage, GoesWithBytesPerElementOfTheWholeCache) {
  const double all = measured(*find_codec_level("raw")).bits_per_element;
  for (const Reducer& reducer : all_reducers()) {
    for (std::size_t i = 0; i < reducer.info.levels.size(); ++i) {
      const double share = static_cast<double>(reducer.info.levels[i].keep_percent) / 100;
      const CodecLevel level{*find_codec("raw"), 0, &reducer, i};
      // Positions cost a bit per token and layer, of 384 elements each.
      EXPECT_NEAR(measured(level).bits_per_element, share * all, 0.015) << level.id();
    }
  }
}

}  // namespace
}  // namespace sluice
