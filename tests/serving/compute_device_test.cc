// Prefill cost: by head on round numbers, never less for more work, and strict device files.
#include "sim/serving/compute/compute_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/files.h"
#include "tests/temporary_folder.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// 1000 parameters, one layer, one query and one KV head of 5: 10 KV elements per token.
ModelGeometry tiny_model() {
  return {.id = "tiny",
          .name = {},
          .source = {},
          .parameters = 1000,
          .attention_heads = 1,
          .hidden_size = 5,
          .layers = {{.kv_heads = 1, .head_dim = 5, .tensors = 2, .window_tokens = {}}}};
}

// A million operations a second in the weights and in attention; memory without limit.
RooflinePrefill round_numbers() {
  return {.dense_flops_per_sec = {1e6, {}, {}},
          .attention_flops_per_sec = {1e6, {}, {}},
          .memory_bytes_per_sec = {1e15, {}, {}},
          .weight_bytes_per_parameter = {2, {}, {}},
          .pass_overhead_s = {0, {}, {}},
          .parallel = {}};
}

ComputeDevice device_of(RooflinePrefill prefill) {
  ComputeDevice device;
  device.prefill = prefill;
  return device;
}

TEST(Prefill, WeightsCostTwoOperationsPerParameterAndToken) {
  // 2 x 1000 x 100 = 200 000 operations: 0.2 s; attention 4 x 5 x 100 x 50 = 100 000: 0.1 s.
  EXPECT_EQ(device_of(round_numbers()).prefill_time(tiny_model(), 100, 0), 300ms);
}

TEST(Prefill, AttentionGrowsWithThePosition) {
  // At position 1000: 4 x 5 x 100 x (1000 + 50) = 2 100 000 operations.
  EXPECT_EQ(device_of(round_numbers()).prefill_time(tiny_model(), 100, 1000), 2300ms);
}

TEST(Prefill, AWindowBoundsWhatATokenAttendsTo) {
  ModelGeometry model = tiny_model();
  model.layers[0].window_tokens = 20;
  // 20 tokens grow to the window (20 x 10), 80 see 20 (80 x 20): 4 x 5 x 1800 = 36 000 operations.
  EXPECT_EQ(device_of(round_numbers()).prefill_time(model, 100, 0), 236ms);
  // Past the window every token sees 20: 4 x 5 x 2000 = 40 000, at any position.
  EXPECT_EQ(device_of(round_numbers()).prefill_time(model, 100, 1000), 240ms);
  EXPECT_EQ(device_of(round_numbers()).prefill_time(model, 100, 1'000'000), 240ms);
}

TEST(Prefill, APassTakesAtLeastTheReadingOfTheWeightsAndTheCache) {
  RooflinePrefill prefill = round_numbers();
  prefill.memory_bytes_per_sec.value = 1000;
  // 2000 bytes of weights and 1 token x 10 elements x 2 bytes, at 1000 byte/s.
  EXPECT_EQ(device_of(prefill).prefill_time(tiny_model(), 1, 0), 2020ms);
  EXPECT_EQ(device_of(prefill).first_token_time(tiny_model(), 1, 99), 4s);
}

TEST(Prefill, TheOverheadComesOncePerPass) {
  RooflinePrefill prefill = round_numbers();
  prefill.pass_overhead_s.value = 0.05;
  EXPECT_EQ(device_of(prefill).prefill_time(tiny_model(), 100, 0), 350ms);
}

TEST(Prefill, NoTokensTakeNoTime) {
  EXPECT_EQ(device_of(round_numbers()).prefill_time(tiny_model(), 0, 1000), 0s);
}

TEST(Prefill, AGroupDividesTheWorkAndPaysForItsAllReduces) {
  RooflinePrefill prefill = round_numbers();
  prefill.parallel =
      ParallelCost{.interconnect_bytes_per_sec = {1000, {}, {}}, .pass_overhead_s = {0.01, {}, {}}};
  ComputeDevice device = device_of(prefill);
  device.gpus = 2;
  // Half of 0.3 s, 10 ms, and 2 all-reduces of 100 x 5 x 2 bytes, each byte sent once: 2 s.
  EXPECT_EQ(device.prefill_time(tiny_model(), 100, 0), 150ms + 10ms + 2s);
}

TEST(Prefill, WhatCannotBeCountedThrowsInsteadOfWrapping) {
  const auto tokens = std::int64_t{1} << 55;
  EXPECT_THROW((void)device_of(round_numbers()).prefill_time(tiny_model(), tokens, 0),
               std::overflow_error);
  const auto many = std::int64_t{1} << 61;  // x 10 elements passes 2^63
  EXPECT_THROW((void)device_of(round_numbers()).prefill_time(tiny_model(), many, 0),
               std::overflow_error);
}

class ShippedDevices : public testing::Test {
 protected:
  void SetUp() override { ::setenv("SLUICE_HOME", SLUICE_SOURCE_DIR, 1); }
  static ComputeDevice shipped(const std::string& id) {
    auto device = find_device(id);
    EXPECT_TRUE(device.ok()) << (device.ok() ? "" : device.error().to_line());
    return *std::move(device);
  }
  static ModelGeometry model(const std::string& id) { return *find_geometry(id); }
};

TEST_F(ShippedDevices, TimeNeverFallsWithMoreTokensOrALaterPosition) {
  const auto devices = all_devices();
  const auto models = all_geometries();
  ASSERT_TRUE(devices.ok() && models.ok());
  ASSERT_GE(devices->size(), 4u);
  for (const ComputeDevice& device : *devices) {
    for (const ModelGeometry& geometry : *models) {
      Duration before{};
      for (std::int64_t tokens = 1; tokens <= 1 << 20; tokens *= 2) {
        const Duration time = device.prefill_time(geometry, tokens, 500);
        EXPECT_GE(time, before) << device.id << ' ' << geometry.id << ' ' << tokens;
        before = time;
      }
      before = Duration::zero();
      for (std::int64_t position = 0; position <= 10'000'000; position = 2 * position + 100) {
        const Duration time = device.prefill_time(geometry, 1500, position);
        EXPECT_GE(time, before) << device.id << ' ' << geometry.id << ' ' << position;
        before = time;
      }
    }
  }
}

TEST_F(ShippedDevices, RecomputingInChunksCostsAboutAsMuchAsAtOnce) {
  const ComputeDevice a40 = shipped("a40");
  const ModelGeometry mistral = model("mistral-7b");
  Duration sum{};
  for (std::int64_t at = 0; at < 9000; at += 1500) sum += a40.prefill_time(mistral, 1500, at);
  const double ratio = to_seconds(sum) / to_seconds(a40.prefill_time(mistral, 9000, 0));
  EXPECT_GE(ratio, 1.0);  // six overheads instead of one
  EXPECT_LE(ratio, 1.02);
}

TEST_F(ShippedDevices, ATable1ContextPrefillsIn1400MillisecondsOnAnA40AndUnder300OnAnH200) {
  // 2 x 7.24e9 x 9490 / 1e14 = 1.37 s and attention 4 x 4096 x 32 x 9490 x 4745 / 5e13 = 0.47 s.
  EXPECT_NEAR(to_seconds(shipped("a40").prefill_time(model("mistral-7b"), 9490, 0)), 1.37 + 0.47,
              0.02);
  EXPECT_LT(shipped("h200").prefill_time(model("mistral-7b"), 9490, 0), 350ms);
}

TEST_F(ShippedDevices, TheFirstTokenIsBoundByReadingTheWeights) {
  // 14.5 GB of Mistral at 696 GB/s are 20.8 ms; computing 16 tokens would take 2.3 ms.
  EXPECT_NEAR(to_ms(shipped("a40").first_token_time(model("mistral-7b"), 16, 0)), 20.8 + 1.8, 0.1);
}

TEST_F(ShippedDevices, TheReleasedScriptCharges200MillisecondsForAnyChunkAndNothingForTheToken) {
  const ComputeDevice script = shipped("released-script");
  EXPECT_EQ(script.prefill_time(model("mistral-7b"), 1500, 0), 200ms);
  EXPECT_EQ(script.prefill_time(model("llama-3-70b"), 9490, 100'000), 200ms);
  EXPECT_EQ(script.prefill_time(model("mistral-7b"), 0, 0), 0ms);
  EXPECT_EQ(script.first_token_time(model("mistral-7b"), 16, 9490), 0ms);
}

TEST_F(ShippedDevices, ANumberAfterXMakesAGroup) {
  const ComputeDevice group = shipped("a40x4");
  EXPECT_EQ(group.id, "a40x4");
  EXPECT_EQ(group.gpu, "a40");
  EXPECT_EQ(group.gpus, 4);
  EXPECT_LT(group.prefill_time(model("llama-2-70b"), 4096, 0),
            shipped("a40").prefill_time(model("llama-2-70b"), 4096, 0));
}

TEST_F(ShippedDevices, WhatIsNotADeviceNamesTheNearestOne) {
  EXPECT_EQ(find_device("a10").error().to_line(),
            "error: unknown compute device `a10`; did you mean `a100`?");
  EXPECT_THAT(find_device("a40x1").error().to_line(), HasSubstr("unknown compute device `a40x1`"));
  EXPECT_THAT(find_device("a40x999").error().to_line(), HasSubstr("unknown compute device"));
  EXPECT_THAT(find_device("released-scriptx2").error().to_line(),
              HasSubstr("cannot stand in a group"));
}

// The fault of the shipped A40 file with `from` replaced by `to`.
std::string fault_after(const std::string& from, const std::string& to) {
  std::string text =
      *read_file(std::filesystem::path(SLUICE_SOURCE_DIR) / "sim/serving/compute/devices/a40.json");
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  text.replace(at, from.size(), to);
  const auto file = temporary_folder() / "sluice_device.json";
  std::ofstream(file, std::ios::binary) << text;
  const auto device = read_device(file);
  return device.ok() ? "no error" : device.error().to_line();
}

TEST(DeviceFile, FaultsNameFileFieldAndFix) {
  EXPECT_EQ(fault_after("A40", "A-40"), "no error");
  EXPECT_THAT(fault_after("\"value\": 1e14", "\"value\": 0"),
              HasSubstr("sluice_device.json: `roofline.dense_flops_per_sec.value` is 0;"));
  EXPECT_THAT(fault_after("\"value\": 1e14", "\"value\": -1e14"),
              HasSubstr("`roofline.dense_flops_per_sec.value` is -1"));
  EXPECT_THAT(fault_after("\"value\": 1e14", "\"value\": \"fast\""),
              HasSubstr("is \"fast\"; write a number"));
  EXPECT_THAT(fault_after("memory_bytes_per_sec", "memory_bytes_per_s"),
              HasSubstr("did you mean `memory_bytes_per_sec`?"));
  EXPECT_THAT(fault_after("\"estimated\"", "\"guessed\""),
              HasSubstr("is `guessed`; known: measured, published"));
  EXPECT_THAT(fault_after("\"roofline\"", "\"rooflin\""),
              HasSubstr("needs either `roofline` or `constant`"));
}

}  // namespace
}  // namespace sluice
