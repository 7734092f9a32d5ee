// kivi-4 and kivi-2: the examples of their specification, their sizes, and the bound on errors.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "codec/container/decode.h"
#include "codec/container/encode.h"
#include "tests/codec/made_caches.h"
#include "tests/codec/one_section.h"

namespace sluice {
namespace {

constexpr auto kKey = TensorKind::kKey;
constexpr auto kValue = TensorKind::kValue;

const std::vector<float> kThreeTokens{0, -1, 1, 0.5F, 3, 0.5F};
const std::vector<int> kExampleKeys{0x00, 0x3c, 0x00, 0x38, 0, 0, 0x00, 0xbc, 0x00, 0x0d, 0x0f};
const std::vector<int> kExampleValues{0x56, 0x35, 0x00, 0xbc, 0x03};

std::vector<float> decoded(const std::string& name, const std::vector<std::byte>& payload,
                           std::int64_t tokens, std::int64_t channels, TensorKind kind) {
  OwnedTensor back = fp32_tensor(tokens, channels,
                                 std::vector<float>(static_cast<std::size_t>(tokens * channels)));
  const Status status = decode_section_into(name, payload, back.mutable_view(), kind);
  return status ? floats_of(back) : std::vector<float>{};
}

TEST(Kivi, KeysAreTheExampleOfItsSpecification) {
  const OwnedTensor keys = fp32_tensor(3, 2, kThreeTokens);
  EXPECT_EQ(encoded_section("kivi-2@group-32", keys.view(), kKey), to_bytes(kExampleKeys));
  EXPECT_EQ(decoded("kivi-2@group-32", to_bytes(kExampleKeys), 3, 2, kKey), kThreeTokens);
}

TEST(Kivi, ValuesAreTheExampleOfItsSpecification) {
  const OwnedTensor value = fp32_tensor(1, 2, {0, -1});
  EXPECT_EQ(encoded_section("kivi-2@group-32", value.view(), kValue), to_bytes(kExampleValues));
  const auto back = decoded("kivi-2@group-32", to_bytes(kExampleValues), 1, 2, kValue);
  EXPECT_NEAR(back[0], 0.00049, 1e-5);
  EXPECT_EQ(back[1], -1);
}

TEST(Kivi, RefusesWhatNoEncoderWrites) {
  const auto is_refused = [](std::size_t at, int byte) {
    std::vector<int> bytes = kExampleValues;
    bytes[at] = byte;
    return decoded("kivi-2@group-32", to_bytes(bytes), 1, 2, kValue).empty();
  };
  EXPECT_FALSE(is_refused(4, 0x0f));
  EXPECT_TRUE(is_refused(4, 0x13));  // padding
  EXPECT_TRUE(is_refused(1, 0x7c));  // an infinite scale
  EXPECT_TRUE(is_refused(1, 0x80));  // a negative one
  EXPECT_TRUE(is_refused(3, 0xfc));  // an infinite zero point
}

TEST(Kivi, TwoBitsAreThreeWithGroupsOf32) {
  // 16 bits of scale and 16 of zero point per 32 codes of 2 or 4 bits.
  const TensorShape shape{.dtype = Dtype::kFp16, .heads = 2, .tokens = 256, .dim = 64};
  const OwnedTensor tensor(shape, [](std::int64_t h, std::int64_t t, std::int64_t d) {
    return static_cast<float>(h * 7 + t % 13 - d % 5);
  });
  const auto bits = [&](const std::string& name, TensorKind kind) {
    return 8.0 * static_cast<double>(encoded_section(name, tensor.view(), kind).size()) /
           static_cast<double>(shape.elements());
  };
  for (const TensorKind kind : {kKey, kValue}) {
    EXPECT_EQ(bits("kivi-2@group-32", kind), 3.0);
    EXPECT_EQ(bits("kivi-2@group-64", kind), 2.5);
    EXPECT_EQ(bits("kivi-2@group-128", kind), 2.25);
    EXPECT_EQ(bits("kivi-4@group-32", kind), 5.0);
    EXPECT_EQ(bits("kivi-2@group-32-residual-128", kind), (3.0 + 16.0) / 2);  // 128 of 256 tokens
  }
}

TEST(Kivi, TheLastTokensOfTheResidualLevelAreExact) {
  const TensorShape shape{.dtype = Dtype::kBf16, .heads = 2, .tokens = 130, .dim = 8};
  RandomStream random(5);
  const OwnedTensor tensor(shape, [&](std::int64_t, std::int64_t, std::int64_t) {
    return static_cast<float>(random.normal(0, 3));
  });
  for (const TensorKind kind : {kKey, kValue}) {
    const std::string name = "kivi-2@group-32-residual-128";
    OwnedTensor back(shape);
    ASSERT_TRUE(decode_section_into(name, encoded_section(name, tensor.view(), kind),
                                    back.mutable_view(), kind)
                    .ok());
    for (std::int64_t token = 2; token < 130; ++token) {
      for (std::int64_t c = 0; c < 16; ++c)
        ASSERT_EQ(back.view().at(c / 8, token, c % 8), tensor.view().at(c / 8, token, c % 8));
    }
    EXPECT_NE(back.memory(), tensor.memory());  // tokens 0 and 1 are quantised
  }
}

TEST(Kivi, NoErrorPassesHalfAStepOfItsGroup) {
  // Groups from -0.4 to 2: steps of 2.4 / 3 and 2.4 / 15.
  std::vector<float> channels;
  for (int i = 0; i < 32; ++i) channels.push_back(-0.4F + 2.4F * static_cast<float>(i) / 31.0F);
  for (const auto& [name, steps] : {std::pair("kivi-2", 3.0), std::pair("kivi-4", 15.0)}) {
    const std::string level = std::string(name) + "@group-32";
    const auto of_tokens = encoded_section(level, fp32_tensor(32, 1, channels).view(), kKey);
    const auto of_channels = encoded_section(level, fp32_tensor(1, 32, channels).view(), kValue);
    const auto keys = decoded(level, of_tokens, 32, 1, kKey);
    const auto values = decoded(level, of_channels, 1, 32, kValue);
    for (std::size_t i = 0; i < channels.size(); ++i) {
      EXPECT_LE(std::fabs(keys[i] - channels[i]), 2.4 / steps / 2 * 1.002);
      EXPECT_EQ(keys[i], values[i]);
    }
  }
}

TEST(Kivi, TheLargestAndTheBrokenNumbersStayFinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const std::string name : {"kivi-2@group-32", "kivi-2@group-32-residual-128"}) {
    const auto payload =
        encoded_section(name, fp32_tensor(1, 4, {infinity, -1e30F, NAN, 3.0F}).view(), kValue);
    const auto back = decoded(name, payload, 1, 4, kValue);
    EXPECT_EQ(back[0], 65504);
    EXPECT_EQ(back[1], -65504);
    EXPECT_LT(std::fabs(back[2]), 131'008.0 / 3 / 2 * 1.002);
  }
  // In bf16, 65504 is 65536.
  const TensorShape shape{.dtype = Dtype::kBf16, .heads = 1, .tokens = 2, .dim = 2};
  const OwnedTensor tensor(shape,
                           [&](std::int64_t, std::int64_t, std::int64_t) { return infinity; });
  const std::string name = "kivi-2@group-32-residual-128";
  OwnedTensor back(shape);
  ASSERT_TRUE(
      decode_section_into(name, encoded_section(name, tensor.view()), back.mutable_view()).ok());
  EXPECT_EQ(back.view().at(0, 1, 1), 65536);
}

// Head sizes that fill AVX2's steps, leave half a step, and do not begin at bytes.
TEST(Kivi, TheBackendsAgreeOnEveryHeadSize) {
  for (const std::int64_t dim : {8, 16, 24, 64, 72, 128, 3, 33}) {
    for (const Dtype dtype : {Dtype::kFp16, Dtype::kBf16, Dtype::kFp32}) {
      const KvCache cache = made_cache(
          {.facts = {},
           .layers = {layer_of(0, {.dtype = dtype, .heads = 3, .tokens = 150, .dim = dim})}});
      for (const std::string name : {"kivi-4@group-32", "kivi-2@group-64"}) {
        const auto encode = [&](Backend backend) {
          return *encode_container(cache.view(), *find_codec_level(name), {.backend = backend});
        };
        const auto file = encode(Backend::kScalar);
        const auto oracle = decode_container(file, "made.kvb", {.backend = Backend::kScalar});
        for (const Backend backend : available_backends()) {
          EXPECT_EQ(encode(backend), file);
          const auto back = decode_container(file, "made.kvb", {.backend = backend});
          ASSERT_TRUE(back.ok());
          expect_same(oracle->view(), back->view());
        }
      }
    }
  }
}

}  // namespace
}  // namespace sluice
