// Codec profiles: sizes that add up, files that read back, sources that stay honest.
#include "codec/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/files.h"
#include "codec/decode_times.h"
#include "tests/temporary_folder.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr std::int64_t kTable1Elements = 621'936'640;  // 9490 tokens of Mistral-7B

LevelFacts level(const std::string& codec, const std::string& name, double bits, double damage) {
  return {.codec = codec,
          .level = name,
          .bits_per_element = bits,
          .encode = {},
          .decode = {},
          .damage = damage};
}

CodecProfile small_profile() {
  CodecProfile profile{.id = "small",
                       .model = "smollm2-135m",
                       .device = "cpu",
                       .chunk_tokens = 256,
                       .damage_measure = "attention-output-error",
                       .command = "c",
                       .commit = "d",
                       .data_sha256 = "e",
                       .note = "n",
                       .sha256 = {},
                       .levels = {}};
  profile.levels.push_back(level("raw", "exact", 16, 0));
  profile.levels.push_back(level("int4", "token", 4.25, 0.03));
  profile.levels[1].bits_per_element_sd = 0.1;
  profile.levels[1].decode =
      LinearTime{.fixed = 1us, .ns_per_element = 0.5, .source = FactSource::kMeasured};
  profile.levels[1].encode =
      LinearTime{.fixed = 2us, .ns_per_element = 1.0 / 3, .source = FactSource::kMeasured};
  return profile;
}

class Profile : public testing::Test {
 protected:
  void SetUp() override {
    ::setenv("SLUICE_HOME", SLUICE_SOURCE_DIR, 1);
    folder_ = temporary_folder() / "sluice_profile_test";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // The fault of small_profile()'s file with `from` replaced by `to`.
  std::string fault_after(const std::string& from, const std::string& to) {
    EXPECT_TRUE(write_profile(small_profile(), folder_ / "small.json").ok());
    std::string text = *read_file(folder_ / "small.json");
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    std::ofstream(folder_ / "small.json", std::ios::binary) << text;
    const auto profile = read_profile(folder_ / "small.json");
    return profile.ok() ? "no error" : profile.error().to_line();
  }

  std::filesystem::path folder_;
};

TEST_F(Profile, SizesAreRoundedUpToWholeBytes) {
  EXPECT_EQ(level("c", "1", 8, 0).size_of(1000).bytes(), 1000);
  EXPECT_EQ(level("c", "1", 2.5, 0).size_of(1).bytes(), 1);
  EXPECT_EQ(level("c", "1", 2.5, 0).size_of(16).bytes(), 5);
  EXPECT_EQ(level("c", "1", 2.5, 0).size_of(0).bytes(), 0);
  EXPECT_EQ(level("c", "1", 16, 0).size_of(9'830'400'000).bytes(),
            19'660'800'000);  // 34B, 80 K tokens
  EXPECT_THROW((void)level("c", "1", 16, 0).size_of(std::int64_t{1} << 62), std::overflow_error);
}

TEST_F(Profile, ATimeIsAFixedPartAndAPartPerElement) {
  const LinearTime time{.fixed = 1ms, .ns_per_element = 0.5};
  EXPECT_EQ(time.of(0), 1ms);
  EXPECT_EQ(time.of(2'000'000), 2ms);
  EXPECT_THROW((void)LinearTime({.ns_per_element = 1e6}).of(std::int64_t{1} << 50),
               std::overflow_error);
}

TEST_F(Profile, WhatIsWrittenReadsBackWhole) {
  ASSERT_TRUE(write_profile(small_profile(), folder_ / "small.json").ok());
  const auto profile = read_profile(folder_ / "small.json");
  ASSERT_TRUE(profile.ok()) << profile.error().to_line();
  EXPECT_EQ(profile->id, "small");
  EXPECT_EQ(profile->device, "cpu");
  EXPECT_EQ(profile->chunk_tokens, 256);
  EXPECT_EQ(profile->sha256.size(), 64u);
  ASSERT_EQ(profile->levels.size(), 2u);
  EXPECT_FALSE(profile->levels[0].decode.has_value());
  EXPECT_EQ(profile->levels[1].id(), "int4@token");
  EXPECT_EQ(profile->levels[1].bits_per_element_sd, 0.1);
  EXPECT_EQ(profile->levels[1].encode->ns_per_element, 1.0 / 3);  // to the last bit
  EXPECT_EQ(profile->levels[1].encode->fixed, 2us);
  const std::string first = *read_file(folder_ / "small.json");
  ASSERT_TRUE(write_profile(*profile, folder_ / "small.json").ok());
  EXPECT_EQ(*read_file(folder_ / "small.json"), first);
}

// Base 1 bit, digit 2 bits, digit 4 bits.
CodecProfile layered_profile() {
  CodecProfile profile = small_profile();
  profile.levels = {level("layered", "c", 4, 0.01), level("int4", "token", 3, 0.02),
                    level("layered", "b", 2, 0.1), level("layered", "a", 1, 0.3)};
  profile.levels[0].refines = "b";
  profile.levels[2].refines = "a";
  return profile;
}

TEST_F(Profile, ALayeredLevelNamesTheLevelThatItRefines) {
  ASSERT_TRUE(write_profile(layered_profile(), folder_ / "layered.json").ok());
  const auto profile = read_profile(folder_ / "layered.json");
  ASSERT_TRUE(profile.ok()) << profile.error().to_line();
  EXPECT_EQ(profile->levels[0].refines, "b");
  EXPECT_FALSE(profile->levels[1].refines);
  EXPECT_FALSE(profile->levels[3].refines);
}

TEST_F(Profile, ARefinementMustHaveMoreBitsAndNoMoreDamageThanWhatItRefines) {
  const auto fault_of = [&](const CodecProfile& profile) {
    const Status status = write_profile(profile, folder_ / "layered.json");
    return status ? std::string("no error") : status.error().to_line();
  };
  CodecProfile profile = layered_profile();
  profile.levels[0].refines = "z";
  EXPECT_THAT(fault_of(profile),
              HasSubstr("`levels[0].refines` names `layered@z`, which is not here"));
  profile.levels[0].refines = "token";  // another codec's
  EXPECT_THAT(fault_of(profile), HasSubstr("`layered@token`, which is not here"));
  profile.levels[0].refines = "c";  // itself
  EXPECT_THAT(fault_of(profile), HasSubstr("has 4 bits per element and this 4"));
  profile = layered_profile();
  profile.levels[3].refines = "c";  // a ring
  EXPECT_THAT(fault_of(profile), HasSubstr("has 4 bits per element and this 1"));
  profile = layered_profile();
  profile.levels[0].refines.reset();
  profile.levels[2].bits_per_element = 8;
  profile.levels[2].refines = "c";
  EXPECT_THAT(fault_of(profile), HasSubstr("`layered@c`, which has less damage"));
}

TEST_F(Profile, LeavingALayerOutJoinsThoseAroundIt) {
  CodecProfile profile = layered_profile();
  keep_levels(profile, [](const LevelFacts& l) { return l.level != "b"; });
  ASSERT_EQ(profile.levels.size(), 3u);
  EXPECT_EQ(profile.levels[0].refines, "a");
  keep_levels(profile, [](const LevelFacts& l) { return l.level == "c"; });
  ASSERT_EQ(profile.levels.size(), 1u);
  EXPECT_FALSE(profile.levels[0].refines);
}

TEST_F(Profile, WhatWouldNotReadBackIsNotWritten) {
  CodecProfile profile = small_profile();
  profile.levels[1].bits_per_element = std::nan("");
  const Status status = write_profile(profile, folder_ / "bad.json");
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().to_line(), HasSubstr("`levels[1].bits_per_element` is null"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "bad.json"));
}

TEST_F(Profile, FaultsNameFileFieldAndFix) {
  EXPECT_THAT(fault_after("sluice-codec-profile-1", "sluice-codec-profile-2"),
              HasSubstr("small.json: `format` is `sluice-codec-profile-2`; use a file of format "
                        "`sluice-codec-profile-1`"));
  EXPECT_THAT(fault_after("16.0", "0"), HasSubstr("`levels[0].bits_per_element` is 0;"));
  EXPECT_THAT(fault_after("16.0", "65"), HasSubstr("`levels[0].bits_per_element` is 65;"));
  EXPECT_THAT(fault_after("\"measured\"", "\"mesured\""),
              HasSubstr("`levels[0].size_source` is `mesured`; did you mean `measured`?"));
  EXPECT_THAT(fault_after("\"chunk_tokens\": 256", "\"chunk_tokens\": -1"),
              HasSubstr("`chunk_tokens` is -1;"));
  EXPECT_THAT(fault_after("\"damage\": 0.0", "\"damage\": 0.5"),
              HasSubstr("order levels from least to most damage"));
  EXPECT_THAT(fault_after("\"fixed_ns\": 2000", "\"fixed_ns\": -5"),
              HasSubstr("`levels[1].encode.fixed_ns` is -5;"));
  EXPECT_THAT(fault_after("\"device\": \"cpu\"", "\"device\": \"\""),
              HasSubstr("say where they were taken"));
  EXPECT_THAT(fault_after("\"chunk_tokens\"", "\"chunk_tokenz\""),
              HasSubstr("did you mean `chunk_tokens`?"));
  EXPECT_THAT(fault_after("{", ""), HasSubstr("not JSON"));
}

TEST_F(Profile, ALevelCannotStandTwice) {
  CodecProfile profile = small_profile();
  profile.levels.push_back(profile.levels.back());
  EXPECT_THAT(write_profile(profile, folder_ / "twice.json").error().to_line(),
              HasSubstr("repeats `int4@token`; keep one"));
}

TEST_F(Profile, ScalingSaysSo) {
  CodecProfile profile = small_profile();
  profile.levels[0].damage_source = FactSource::kEstimated;
  profile.levels[0].size_source = FactSource::kPublished;
  const CodecProfile scaled = scale_profile(profile, "mistral-7b");
  EXPECT_EQ(scaled.model, "mistral-7b");
  EXPECT_EQ(scaled.levels[0].size_source, FactSource::kScaled);
  EXPECT_EQ(scaled.levels[0].damage_source,
            FactSource::kEstimated);  // a guess does not become better
  EXPECT_EQ(scaled.levels[1].decode->source, FactSource::kScaled);
  EXPECT_EQ(scaled.levels[1].bits_per_element, 4.25);
  EXPECT_THAT(scaled.note, HasSubstr("from smollm2-135m to mistral-7b"));
  EXPECT_EQ(scale_profile(profile, "smollm2-135m").levels[1].size_source, FactSource::kMeasured);
}

TEST_F(Profile, ThePublishedProfileHasTheSizesOfTable1) {
  const auto profile = find_profile("cachegen-mistral-7b-published");
  ASSERT_TRUE(profile.ok()) << profile.error().to_line();
  std::map<std::string, double> megabytes;
  for (const LevelFacts& facts : profile->levels) {
    megabytes[facts.id()] = static_cast<double>(facts.size_of(kTable1Elements).bytes()) / 1e6;
  }
  EXPECT_NEAR(megabytes["int8@token"], 622, 0.5);
  EXPECT_NEAR(megabytes["cachegen-released@3"], 242, 0.5);
  EXPECT_NEAR(megabytes["cachegen-released@2"], 176, 0.5);
  EXPECT_NEAR(megabytes["cachegen-released@1"], 138, 0.5);
  EXPECT_NEAR(megabytes["raw@exact"], 1244, 0.5);
}

TEST_F(Profile, ThePublishedProfileCallsItsEstimatesEstimates) {
  const auto profile = find_profile("cachegen-mistral-7b-published");
  ASSERT_TRUE(profile.ok()) << profile.error().to_line();
  for (const LevelFacts& facts : profile->levels) {
    const bool estimate =
        facts.id() == "cachegen-released@3" || facts.id() == "cachegen-released@1";
    EXPECT_EQ(facts.size_source, estimate ? FactSource::kEstimated : FactSource::kPublished)
        << facts.id();
    EXPECT_EQ(facts.damage_source, estimate ? FactSource::kEstimated : FactSource::kPublished)
        << facts.id();
    EXPECT_FALSE(facts.decode.has_value()) << facts.id();  // times belong to devices
  }
}

TEST_F(Profile, AnUnknownProfileOrDeviceNamesTheNearestKnownOne) {
  EXPECT_THAT(find_profile("cachegen-mistral-7b-publshed").error().to_line(),
              HasSubstr("did you mean `cachegen-mistral-7b-published`?"));
  EXPECT_THAT(find_decode_times("a4").error().to_line(), HasSubstr("did you mean `a40`?"));
}

TEST_F(Profile, EveryShippedDeviceDecodesThePublishedLevels) {
  const auto sizes = find_profile("cachegen-mistral-7b-published");
  ASSERT_TRUE(sizes.ok());
  for (const char* device : {"a40", "a100", "h200", "released-script"}) {
    const auto times = find_decode_times(device);
    ASSERT_TRUE(times.ok()) << times.error().to_line();
    const auto profile = combine(*sizes, *times);
    ASSERT_TRUE(profile.ok()) << profile.error().to_line();
    EXPECT_EQ(profile->device, device);
    for (const LevelFacts& facts : profile->levels) {
      ASSERT_TRUE(facts.decode.has_value()) << device << ' ' << facts.id();
      EXPECT_NE(facts.decode->source, FactSource::kMeasured);
      // "Negligible" in the paper: less than the 0.47 s that 176 MB take at 3 Gbit/s.
      EXPECT_LT(facts.decode->of(kTable1Elements), 470ms) << device << ' ' << facts.id();
    }
  }
}

TEST_F(Profile, DecodeTimesOfALevelGoBeforeThoseOfItsCodec) {
  const LinearTime slow{.fixed = 5us}, fast{.fixed = 1us};
  DecodeTimes times{.device = "gpu",
                    .note = "n",
                    .entries = {{"int4", "token", fast, ""}, {"int4", {}, slow, ""}}};
  EXPECT_EQ(times.find("int4", "token")->decode.fixed, 1us);
  EXPECT_EQ(times.find("int4", "channel")->decode.fixed, 5us);
  EXPECT_EQ(times.find("int8", "token"), nullptr);
}

TEST_F(Profile, CombiningReplacesTimesOfAnotherDeviceAndKeepsThoseOfTheSame) {
  const LinearTime time{.fixed = 7us, .source = FactSource::kEstimated};
  DecodeTimes times{
      .device = "gpu", .note = "n", .entries = {{"int4", {}, time, ""}, {"raw", {}, time, ""}}};
  const auto on_gpu = combine(small_profile(), times);
  ASSERT_TRUE(on_gpu.ok());
  EXPECT_EQ(on_gpu->levels[1].decode->fixed, 7us);
  EXPECT_FALSE(on_gpu->levels[1].encode.has_value());
  times.device = "cpu";
  const auto on_cpu = combine(small_profile(), times);
  ASSERT_TRUE(on_cpu.ok());
  EXPECT_EQ(on_cpu->levels[0].decode->fixed, 7us);  // was absent
  EXPECT_EQ(on_cpu->levels[1].decode->fixed, 1us);  // was measured
}

TEST_F(Profile, ALevelWithoutADecodeTimeIsAnError) {
  const DecodeTimes times{.device = "gpu", .note = "n", .entries = {{"raw", {}, {}, ""}}};
  EXPECT_THAT(combine(small_profile(), times).error().to_line(),
              HasSubstr("no decode time of `int4@token` on device `gpu`; add codec `int4`"));
}

TEST_F(Profile, TimesMeasuredOnOneModelAreScaledOnAnother) {
  CodecProfile sizes = small_profile();
  sizes.model = "mistral-7b";
  sizes.device.clear();
  sizes.levels = {level("int4", "token", 4.5, 0.1)};
  const auto profile = combine(sizes, decode_times_of(small_profile()));
  ASSERT_TRUE(profile.ok()) << profile.error().to_line();
  EXPECT_EQ(profile->device, "cpu");
  EXPECT_EQ(profile->levels[0].bits_per_element, 4.5);
  EXPECT_EQ(profile->levels[0].decode->ns_per_element, 0.5);
  EXPECT_EQ(profile->levels[0].decode->source, FactSource::kScaled);
}

}  // namespace
}  // namespace sluice
