// Prefixes of a layered level: named by how many refinements they have, encoded alone, and what the
// whole decodes to when it is cut there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "codec/container/decode.h"
#include "codec/container/encode.h"
#include "tests/codec/container_bytes.h"
#include "tests/codec/made_caches.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

TEST(Prefix, IsNamedByItsNumberOfRefinements) {
  const auto level = find_codec_level("sluice@embedded-2");
  ASSERT_TRUE(level.ok()) << level.error().to_line();
  EXPECT_EQ(level->refinements(), 2);
  EXPECT_EQ(level->id(), "sluice@embedded-2");
  EXPECT_EQ(level->info().name, "embedded");
  EXPECT_EQ(find_codec_level("sluice@embedded")->refinements(), 4);
}

TEST(Prefix, StandsForItsLevelAmongAllLevels) {
  std::vector<std::string> names;
  const auto levels = find_codec_levels("sluice");
  for (const CodecLevel& level : *levels) names.push_back(level.level_name());
  EXPECT_THAT(names, testing::IsSupersetOf({"embedded-4", "embedded-0", "rung-1"}));
  EXPECT_THAT(names, testing::Not(testing::Contains("embedded")));
}

TEST(Prefix, OfMoreRefinementsThanThereAreOrOfALevelWithoutAnyIsNoLevel) {
  for (const char* name : {"sluice@embedded-5", "sluice@embedded-02", "sluice@embedded--1",
                           "sluice@embedded-", "int8@token-0"}) {
    const auto level = find_codec_level(name);
    ASSERT_FALSE(level.ok()) << name;
    EXPECT_THAT(level.error().to_line(), HasSubstr("has no level"));
  }
}

TEST(Prefix, DecodesToTheWholeCutThereAndIsSmaller) {
  const KvCache cache = small_cache();
  const auto whole = *encode_container(cache.view(), *find_codec_level("sluice@embedded"), {});
  std::size_t size_before = 0;
  for (int refinements = 0; refinements <= 4; ++refinements) {
    const auto level = *find_codec_level("sluice", "embedded-" + std::to_string(refinements));
    const auto prefix = *encode_container(cache.view(), level, {});
    EXPECT_GT(prefix.size(), size_before);
    EXPECT_LE(prefix.size(), whole.size());
    size_before = prefix.size();
    DecodeOptions cut;
    cut.refinements_max = refinements;
    const auto from_prefix = decode_container(prefix, "prefix");
    const auto from_whole = decode_container(whole, "whole", cut);
    ASSERT_TRUE(from_prefix.ok() && from_whole.ok());
    expect_same(from_prefix->view(), from_whole->view());
  }
}

}  // namespace
}  // namespace sluice
