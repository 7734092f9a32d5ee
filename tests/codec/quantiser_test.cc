// raw, int8 and int4: the examples of their specifications, byte for byte, and the sizes they
// promise.
#include <gtest/gtest.h>

#include <cmath>

#include "codec/float16.h"
#include "codec/registry.h"
#include "codec/uniform/scale.h"
#include "tests/codec/made_caches.h"

namespace sluice {
namespace {

// The payload of a section with one fp32 tensor of one head and one token.
std::vector<int> payload_of(const std::string& level_name, const std::vector<float>& channels) {
  const CodecLevel level = *find_codec_level(level_name);
  const TensorShape shape{.dtype = Dtype::kFp32,
                          .heads = 1,
                          .tokens = 1,
                          .dim = static_cast<std::int64_t>(channels.size())};
  const SectionTensor tensor{
      .values = {shape, reinterpret_cast<const std::byte*>(channels.data()), head_major(shape)}};
  const auto section = level.codec->encode_section({.level = level.level, .num_model_layers = 1},
                                                   std::span(&tensor, 1));
  EXPECT_TRUE(section.ok());
  std::vector<int> bytes;
  for (const std::byte b : section->payload) bytes.push_back(static_cast<int>(b));
  return bytes;
}

std::vector<float> decoded(const std::string& level_name, const std::vector<int>& bytes,
                           std::size_t num_channels) {
  const CodecLevel level = *find_codec_level(level_name);
  std::vector<std::byte> payload;
  for (const int b : bytes) payload.push_back(static_cast<std::byte>(b));
  std::vector<float> channels(num_channels);
  const TensorShape shape{.dtype = Dtype::kFp32,
                          .heads = 1,
                          .tokens = 1,
                          .dim = static_cast<std::int64_t>(num_channels)};
  const MutableSectionTensor tensor{
      .values = {shape, reinterpret_cast<std::byte*>(channels.data()), head_major(shape)}};
  const Status status = level.codec->decode_section({.level = level.level, .num_model_layers = 1},
                                                    payload, std::span(&tensor, 1));
  return status ? channels : std::vector<float>{};
}

TEST(Int8, IsTheExampleOfItsSpecification) {
  EXPECT_EQ(payload_of("int8@token", {1.0F, -0.5F}), (std::vector<int>{0x09, 0x20, 0x7f, 0xc1}));
  const auto back = decoded("int8@token", {0x09, 0x20, 0x7f, 0xc1}, 2);
  EXPECT_NEAR(back[0], 1.0009, 1e-4);
  EXPECT_NEAR(back[1], -0.4965, 1e-4);
}

TEST(Int4, IsTheExampleOfItsSpecification) {
  EXPECT_EQ(payload_of("int4@token", {7, -1, 3}), (std::vector<int>{0x00, 0x3c, 0xf7, 0x03}));
  EXPECT_EQ(decoded("int4@token", {0x00, 0x3c, 0xf7, 0x03}, 3), (std::vector<float>{7, -1, 3}));
}

TEST(Int4, RefusesPaddingThatIsNotZeroAndScalesThatAreNotNumbers) {
  EXPECT_TRUE(decoded("int4@token", {0x00, 0x3c, 0xf7, 0x13}, 3).empty());
  EXPECT_TRUE(decoded("int4@token", {0x00, 0x7c, 0xf7, 0x03}, 3).empty());  // infinity
  EXPECT_TRUE(decoded("int8@token", {0x00, 0xfe, 0x01}, 1).empty());        // NaN
  EXPECT_TRUE(decoded("int8@token", {0x00, 0x80, 0x01}, 1).empty());        // negative zero
}

TEST(Int8, TiesGoToEvenCodes) {
  // The largest channel makes the scale exactly 1.
  EXPECT_EQ(payload_of("int8@token", {127, 0.5F, 1.5F, 2.5F, -2.5F}),
            (std::vector<int>{0x00, 0x3c, 127, 0, 2, 2, 0xfe}));
}

TEST(Int8, NanCodesAsZeroAndInfinityAsTheLargestFp16) {
  const auto back =
      decoded("int8@token", payload_of("int8@token", {NAN, INFINITY, -1e30F, 0.0F}), 4);
  EXPECT_EQ(back[0], 0);
  EXPECT_NEAR(back[1], 65504, 65504 / 250);
  EXPECT_EQ(back[2], -back[1]);
}

TEST(Int8, NoErrorPassesHalfAScale) {
  const std::vector<float> channels{0.013F, -7.7F, 3.14159F, 1e-6F, 2.5F};
  const float scale = fp16_to_fp32(uniform::scale_of(channels, 127));
  const auto back = decoded("int8@token", payload_of("int8@token", channels), 5);
  for (std::size_t i = 0; i < channels.size(); ++i)
    EXPECT_LE(std::fabs(back[i] - channels[i]), scale / 2 * 1.00001F);
}

TEST(Uniform, AScaleIsNeverTooShortForItsLargestValue) {
  for (int i = 1; i < 20'000; ++i) {
    const float value = std::ldexp(static_cast<float>(i), -24);  // into the subnormal scales
    const std::vector<float> one{value};
    for (const float code_max : {7.0F, 127.0F}) {
      const float scale = fp16_to_fp32(uniform::scale_of(one, code_max));
      ASSERT_GE(scale * code_max, value);
      ASSERT_LE(std::fabs(uniform::code_of(value, scale)), code_max);
    }
  }
}

TEST(Sizes, MistralsEightBitBaselineIs8AndASixtyFourthBit) {
  // 8 heads of 128: one fp16 scale per 1024 channels is 16/1024 = 1/64 bit.
  const TensorShape shape{.dtype = Dtype::kFp16, .heads = 8, .tokens = 10, .dim = 128};
  const KvCache cache = made_cache({.facts = {}, .layers = {layer_of(0, shape)}});
  const SectionTensor tensor{.values = *cache.view().layers[0].key};
  const auto bits = [&](const std::string& name) {
    const CodecLevel level = *find_codec_level(name);
    const auto section = level.codec->encode_section({.level = level.level, .num_model_layers = 1},
                                                     std::span(&tensor, 1));
    return bits_per_element(DataSize::bytes(static_cast<std::int64_t>(section->payload.size())),
                            shape.elements());
  };
  EXPECT_DOUBLE_EQ(bits("int8@token"), 8.015625);
  EXPECT_DOUBLE_EQ(bits("int8@group-64"), 8.25);
  EXPECT_DOUBLE_EQ(bits("int4@group-64"), 4.25);
  EXPECT_DOUBLE_EQ(bits("raw"), 16);
}

TEST(Float16, EveryFp16AndBf16SurvivesTheWayThroughFp32) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    if (!std::isnan(fp16_to_fp32(half))) {
      ASSERT_EQ(fp32_to_fp16(fp16_to_fp32(half)), half);
    }
    if (!std::isnan(bf16_to_fp32(half))) {
      ASSERT_EQ(fp32_to_bf16(bf16_to_fp32(half)), half);
    }
  }
}

TEST(Float16, RoundsToNearestAndTiesToEven) {
  EXPECT_EQ(fp32_to_fp16(1.0F), 0x3C00);
  EXPECT_EQ(fp32_to_fp16(65504.0F), 0x7BFF);
  EXPECT_EQ(fp32_to_fp16(65519.9F), 0x7BFF);
  EXPECT_EQ(fp32_to_fp16(65520.0F), 0x7C00);         // a tie, to infinity
  EXPECT_EQ(fp32_to_fp16(0x1p-24F), 0x0001);         // the smallest
  EXPECT_EQ(fp32_to_fp16(0x1p-25F), 0x0000);         // a tie, to zero
  EXPECT_EQ(fp32_to_fp16(0x1.8p-24F), 0x0002);       // a tie, to even
  EXPECT_EQ(fp32_to_fp16(1.0F + 0x1p-11F), 0x3C00);  // a tie, to even
  EXPECT_EQ(fp32_to_fp16(1.0F + 0x3p-11F), 0x3C02);  // a tie, to even
  EXPECT_EQ(fp32_to_bf16(1.0F + 0x1p-8F), 0x3F80);   // a tie, to even
  EXPECT_EQ(fp32_to_bf16(1.0F + 0x3p-8F), 0x3F82);   // a tie, to even
  EXPECT_TRUE(std::isnan(fp16_to_fp32(fp32_to_fp16(NAN))));
  EXPECT_TRUE(std::isnan(bf16_to_fp32(fp32_to_bf16(NAN))));
}

}  // namespace
}  // namespace sluice
