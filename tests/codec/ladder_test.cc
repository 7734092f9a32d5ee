// The ladder: series, equal damage between rungs, judged facts that read back, published figures.
#include "codec/ladder/ladder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/files.h"
#include "codec/ladder/ladder_chart.h"
#include "codec/ladder/ladder_table.h"
#include "tests/temporary_folder.h"

namespace sluice {
namespace {

using testing::HasSubstr;

JudgedContinuation continuation(double kl) {
  return {.documents = 10,
          .delta_ppl_percent = {.mean = 100 * kl, .low = 90 * kl, .high = 110 * kl},
          .kl = {.mean = kl, .low = kl / 2, .high = kl * 2},
          .kl_p99 = 10 * kl,
          .kl_max = 20 * kl,
          .top1 = {.mean = 0.9, .low = 0.85, .high = 0.95},
          .greedy_match = 12.5,
          .attention_error = 0.25};
}

LevelFacts judged_level(const std::string& codec, const std::string& name, double bits, double kl) {
  LevelFacts facts;
  facts.codec = codec;
  facts.level = name;
  facts.bits_per_element = bits;
  facts.damage = kl;
  facts.judged = Judged{.same_document = continuation(kl),
                        .unrelated_question = continuation(kl / 2),
                        .repeat = continuation(4 * kl)};
  return facts;
}

CodecProfile profile_of(const std::string& id, std::vector<LevelFacts> levels) {
  CodecProfile profile;
  profile.id = id;
  profile.model = "smollm2-135m";
  profile.chunk_tokens = 1536;
  profile.damage_measure = "kl-mean";
  profile.note = "n";
  profile.levels = std::move(levels);
  return profile;
}

CodecProfile two_codecs() {
  return profile_of("two", {judged_level("fine", "a", 4, 0.001), judged_level("old", "1", 3, 0.01),
                            judged_level("fine", "b", 2, 0.1)});
}

class LadderTest : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("SLUICE_HOME", SLUICE_SOURCE_DIR, 1);
    folder_ = temporary_folder() / "sluice_ladder_test";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // The fault of two_codecs()'s file with `from` replaced by `to`.
  std::string fault_after(const std::string& from, const std::string& to) {
    EXPECT_TRUE(write_profile(two_codecs(), folder_ / "two.json").ok());
    std::string text = *read_file(folder_ / "two.json");
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    std::ofstream(folder_ / "two.json", std::ios::binary) << text;
    const auto profile = read_profile(folder_ / "two.json");
    return profile.ok() ? "no error" : profile.error().to_line();
  }

  std::filesystem::path folder_;
};

TEST_F(LadderTest, JudgedFactsReadBackWhole) {
  ASSERT_TRUE(write_profile(two_codecs(), folder_ / "two.json").ok());
  const auto profile = read_profile(folder_ / "two.json");
  ASSERT_TRUE(profile.ok()) << profile.error().to_line();
  const Judged& judged = *profile->levels[1].judged;
  EXPECT_EQ(judged.same_document.documents, 10);
  EXPECT_EQ(judged.same_document.kl.mean, 0.01);
  EXPECT_EQ(judged.same_document.kl.low, 0.005);
  EXPECT_EQ(judged.unrelated_question.kl.mean, 0.005);
  EXPECT_EQ(judged.repeat.delta_ppl_percent.high, 110 * 0.04);
  EXPECT_EQ(judged.repeat.top1.low, 0.85);
  EXPECT_EQ(judged.repeat.greedy_match, 12.5);
  EXPECT_EQ(judged.repeat.attention_error, 0.25);
}

TEST_F(LadderTest, WhatCannotBeTrueOfAJudgementIsNamed) {
  EXPECT_THAT(fault_after("\"top1\": 0.9,", "\"top1\": 1.9,"), HasSubstr("same-document.top1"));
  EXPECT_THAT(fault_after("\"top1_low\": 0.85", "\"top1_low\": 0.99"),
              HasSubstr("above the interval's end"));
  EXPECT_THAT(fault_after("\"kl_p99\": 0.01,", "\"kl_p99\": 1,"), HasSubstr("above `kl_max`"));
  EXPECT_THAT(fault_after("\"documents\": 10", "\"documents\": 0"), HasSubstr("documents"));
  EXPECT_THAT(fault_after("\"repeat\"", "\"repeats\""), HasSubstr("repeat"));
  EXPECT_THAT(fault_after("\"kl_max\"", "\"kl_most\""), HasSubstr("kl_max"));
}

TEST_F(LadderTest, ACodecOfAProfileIsASeriesMostBitsFirst) {
  const auto ladder =
      make_ladder({two_codecs(), profile_of("other", {judged_level("fine", "c", 1, 0.2)})}, {});
  ASSERT_TRUE(ladder.ok());
  ASSERT_EQ(ladder->series.size(), 3u);
  EXPECT_EQ(ladder->series[0].codec, "fine");
  EXPECT_EQ(ladder->series[0].rungs[0].facts.level, "a");
  EXPECT_EQ(ladder->series[0].rungs[1].facts.level, "b");
  EXPECT_EQ(ladder->series[2].name(), "fine (other)");
  EXPECT_EQ(ladder->series[1].name(), "old") << "of one profile alone";
}

TEST_F(LadderTest, LevelsThatNoModelJudgedAreLeftOut) {
  CodecProfile profile = two_codecs();
  profile.levels[1].judged.reset();
  const auto ladder = make_ladder({profile}, {});
  ASSERT_TRUE(ladder.ok());
  EXPECT_EQ(ladder->series.size(), 1u);
  for (LevelFacts& level : profile.levels) level.judged.reset();
  EXPECT_THAT(make_ladder({profile}, {}).error().to_line(), HasSubstr("codec judge"));
}

TEST_F(LadderTest, BetweenTwoRungsBitsFallInAStraightLineWithTheLogOfKl) {
  const auto ladder = make_ladder({two_codecs()}, {});
  const LadderSeries& fine = ladder->series[0];  // 4 bits at 0.001, 2 bits at 0.1
  EXPECT_NEAR(*bits_at_kl(fine, 0.01), 3, 1e-12);
  EXPECT_NEAR(*bits_at_kl(fine, 0.001), 4, 1e-12);
  EXPECT_NEAR(*bits_at_kl(fine, 0.1), 2, 1e-12);
  EXPECT_FALSE(bits_at_kl(fine, 0.2).has_value());
  EXPECT_FALSE(bits_at_kl(fine, 0.0005).has_value());
  const auto equal = compare_at(*ladder, "old@1");
  ASSERT_TRUE(equal.ok());
  EXPECT_EQ(equal->bits_per_element, 3);
  ASSERT_EQ(equal->bits.size(), 1u) << "one rung is no line";
  EXPECT_NEAR(equal->bits[0].second, 3, 1e-12);
  EXPECT_THAT(compare_at(*ladder, "old@2").error().to_line(), HasSubstr("old@1"));
}

TEST_F(LadderTest, DecodeTimesComeFromTheProfileAndFromDevices) {
  CodecProfile profile = two_codecs();
  profile.device = "cpu";
  profile.levels[0].decode = LinearTime{.ns_per_element = 0.5};
  const DecodeTimes gpu{
      .device = "gpu",
      .note = "n",
      .entries = {{.codec = "fine", .level = {}, .decode = {.ns_per_element = 0.01}, .note = "n"}}};
  const auto ladder = make_ladder({profile}, {gpu});
  EXPECT_EQ(ladder->series[0].rungs[0].decode.at("cpu").ns_per_element, 0.5);
  EXPECT_EQ(ladder->series[0].rungs[1].decode.at("gpu").ns_per_element, 0.01);
  EXPECT_TRUE(ladder->series[1].rungs[0].decode.empty());
}

TEST_F(LadderTest, PublishedSizesStandBesideOurs) {
  const auto published = published_points();
  ASSERT_TRUE(published.ok()) << published.error().to_line();
  LadderPage page{.ladder = *make_ladder(
                      {profile_of("one", {judged_level("cachegen-released", "2", 2.5, 0.03)})}, {}),
                  .equal = {},
                  .published = *published,
                  .context_elements = 621'936'640};
  std::ostringstream text;
  print_ladder(page, TableFormat::kTable, text);
  // 176 MB at 2.26 bits; 2.5 bits of 621.9 million elements are 194.4 MB.
  EXPECT_THAT(text.str(), testing::ContainsRegex("CacheGen +176 +2\\.26 +98 +cachegen-released@2 "
                                                 "+2\\.50 +194 "));
  std::ostringstream json;
  print_ladder(page, TableFormat::kJson, json);
  const auto parsed = nlohmann::json::parse(json.str());
  EXPECT_EQ(parsed["rungs"].size(), 1u);
  EXPECT_EQ(parsed["rungs"][0]["judged"]["repeat"]["kl_mean"], 0.12);
  EXPECT_EQ(parsed["published"].size(), published->points.size());
}

TEST_F(LadderTest, APublishedPointOfAnUnknownMeasureIsNamed) {
  std::ofstream(folder_ / "points.json")
      << R"({"format": "sluice-published-points-1", "context_model": "m", "context_tokens": 1,)"
      << R"( "points": [{"codec": "c", "model": "m", "bits_per_element": 2, "measure": "kl-men",)"
      << R"( "value": 1, "source": "s"}]})";
  const auto points = read_published_points(folder_ / "points.json");
  ASSERT_FALSE(points.ok());
  EXPECT_THAT(points.error().to_line(), HasSubstr("points[0].measure"));
  EXPECT_THAT(points.error().to_line(), HasSubstr("kl-mean"));
}

TEST_F(LadderTest, ThePlotHasAMarkPerRungAndMeasureAndACrossPerPublishedPoint) {
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  const auto published = published_points();
  const std::string svg = draw_ladder(*make_ladder({two_codecs()}, {}), *published);
  EXPECT_EQ(count(svg, "class=\"mark f"), 3u * 3u + 2u) << "three panels of three rungs, a legend";
  EXPECT_EQ(count(svg, "class=\"published\""), published->points.size() + 1);
}

}  // namespace
}  // namespace sluice
