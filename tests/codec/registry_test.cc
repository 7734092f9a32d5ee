#include "codec/registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace sluice {
namespace {

using testing::HasSubstr;

TEST(CodecRegistry, FindsCodecsAndLevelsByName) {
  EXPECT_EQ(find_codec_level("int8")->id(), "int8@group-64");
  EXPECT_EQ(find_codec_level("int8@token")->id(), "int8@token");
  EXPECT_EQ(find_codec_level("int8", "token")->level, 1U);
}

TEST(CodecRegistry, AWrongNameIsAnErrorThatNamesTheNearestOne) {
  EXPECT_THAT(find_codec_level("int88").error().to_line(), HasSubstr("did you mean `int8`?"));
  EXPECT_THAT(find_codec_level("int8@tokens").error().to_line(),
              HasSubstr("did you mean `token`?"));
  EXPECT_THAT(find_codec_level("").error().to_line(), HasSubstr("known: raw, lossless"));
}

TEST(CodecRegistry, FindsPairsOfACodecAndAReducer) {
  EXPECT_EQ(find_codec_level("int8+h2o@token+25")->id(), "int8+h2o@token+25");
  EXPECT_EQ(find_codec_level("int8+h2o", "token+25")->id(), "int8+h2o@token+25");
  EXPECT_EQ(find_codec_level("int8+h2o")->id(), "int8+h2o@group-64+50");
  EXPECT_EQ(find_codec_level("int8+h2o@token")->id(), "int8+h2o@token+50");
  EXPECT_EQ(find_codec_level("int8+h2o@+75")->id(), "int8+h2o@group-64+75");
  EXPECT_EQ(find_codec_level("int8+h2o@token")->codec_name(), "int8+h2o");
}

TEST(CodecRegistry, AWrongPairIsAnErrorThatNamesTheNearestPart) {
  const auto error_of = [](const char* name) { return find_codec_level(name).error().to_line(); };
  EXPECT_THAT(error_of("int88+h2o"), HasSubstr("no codec `int88`; did you mean `int8`?"));
  EXPECT_THAT(error_of("int8+h2"), HasSubstr("no reducer `h2`; did you mean `h2o`?"));
  EXPECT_THAT(error_of("int8+"), HasSubstr("known: h2o, snapkv"));
  EXPECT_THAT(error_of("int8+h2o+window"), HasSubstr("no reducer `h2o+window`"));
  EXPECT_THAT(error_of("int8+h2o@token+7"), HasSubstr("reducer `h2o` has no level `7`"));
  EXPECT_THAT(error_of("int8+h2o@50"), HasSubstr("codec `int8` has no level `50`"));
  EXPECT_THAT(error_of("int8@token+50"), HasSubstr("name one: `int8+h2o@token+50`"));
  EXPECT_THAT(error_of("int8+h2o@"), HasSubstr("names no level behind its @"));
}

TEST(CodecRegistry, ANameWithoutALevelIsAllOfThem) {
  EXPECT_EQ(find_codec_levels("int8")->size(), 2U);
  EXPECT_EQ(find_codec_levels("int8@token")->size(), 1U);
  EXPECT_EQ(find_codec_levels("int8+h2o")->size(), 6U);
  EXPECT_EQ(find_codec_levels("int8+h2o")->at(1).id(), "int8+h2o@group-64+50");
  EXPECT_EQ(find_codec_levels("int8+h2o@token")->size(), 1U);
}

TEST(CodecRegistry, EveryCodecHasASummaryAndSpecAndEveryLevelASummary) {
  for (const Codec& codec : all_codecs()) {
    EXPECT_FALSE(codec.info.summary.empty()) << codec.info.id;
    for (const CodecLevelInfo& level : codec.info.levels)
      EXPECT_FALSE(level.summary.empty()) << codec.info.id;
    // One folder for all widths of a codec: kivi-4 and kivi-2 are in kivi/.
    const auto has_spec = [](std::string name) {
      std::replace(name.begin(), name.end(), '-', '_');
      return std::filesystem::exists(SLUICE_SOURCE_DIR "/codec/" + name + "/spec.md");
    };
    const std::string& id = codec.info.id;
    EXPECT_TRUE(has_spec(id) || has_spec(id.substr(0, id.rfind('-')))) << id;
  }
}

}  // namespace
}  // namespace sluice
