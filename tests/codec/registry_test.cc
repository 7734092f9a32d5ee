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
