// cachegen-published: groups, anchors, deltas and their edges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/random.h"
#include "codec/cachegen_published/binding.h"
#include "codec/cachegen_published/kernel.h"
#include "codec/registry.h"
#include "tests/codec/owned_tensor.h"

namespace sluice {
namespace {

SectionContext context_of(const std::string& level, std::int64_t num_layers = 30) {
  const auto found = find_codec_level("cachegen-published", level);
  EXPECT_TRUE(found.ok());
  return {.level = found->level, .kind = TensorKind::kKey, .num_model_layers = num_layers};
}

std::vector<std::byte> encode(const SectionContext& context, const TensorView& values,
                              std::int64_t layer = 0) {
  const SectionTensor tensor{.layer = layer, .values = values};
  auto section = cachegen_published_codec().encode_section(context, std::span(&tensor, 1));
  EXPECT_TRUE(section.ok());
  EXPECT_LE(section->side_bytes, static_cast<std::int64_t>(section->payload.size()));
  return std::move(section->payload);
}

Status decode(const SectionContext& context, std::span<const std::byte> payload,
              const MutableTensorView& values, std::int64_t layer = 0) {
  const MutableSectionTensor tensor{.layer = layer, .values = values};
  return cachegen_published_codec().decode_section(context, payload, std::span(&tensor, 1));
}

float step_of(std::span<const std::byte> payload) {
  float step;
  std::memcpy(&step, payload.data(), sizeof step);
  return step;
}

std::vector<float> token_of(const TensorView& values, std::int64_t token) {
  std::vector<float> channels(static_cast<std::size_t>(values.shape.channels()));
  values.read_token(token, channels);
  return channels;
}

TEST(CachegenPublished, EveryTenthTokenIsAnAnchorIn8BitsAndTheOthersAreWithinHalfAStep) {
  RandomStream random(1, "published", 0);
  const OwnedTensor tensor({Dtype::kFp32, 3, 47, 16}, [&](auto, auto, std::int64_t dim) {
    return static_cast<float>(random.normal(static_cast<double>(dim), 1));
  });
  for (const char* level : {"step-0.35", "step-0.7", "step-1.4"}) {
    const auto payload = encode(context_of(level), tensor.view());
    OwnedTensor decoded(tensor.view().shape);
    ASSERT_TRUE(decode(context_of(level), payload, decoded.mutable_view()).ok());
    const float step = step_of(payload);
    for (std::int64_t token = 0; token < 47; ++token) {
      const auto in = token_of(tensor.view(), token), out = token_of(decoded.view(), token);
      const bool is_anchor = token % 10 == 0;
      const float largest = std::abs(*std::max_element(
          in.begin(), in.end(), [](float a, float b) { return std::abs(a) < std::abs(b); }));
      const float allowed = is_anchor ? 0.51F * largest / 127 : 0.501F * step;
      for (std::size_t c = 0; c < in.size(); ++c) {
        EXPECT_LE(std::abs(in[c] - out[c]), allowed) << level << " token " << token;
      }
    }
  }
}

TEST(CachegenPublished, BinsAreHalfOneAndOneAndAHalfByThirdOfTheLayers) {
  RandomStream random(2, "published", 0);
  const OwnedTensor tensor({Dtype::kFp32, 1, 100, 32}, [&](auto, auto, auto) {
    return static_cast<float>(random.normal(0, 1));
  });
  const auto step = [&](const char* level, std::int64_t layer, std::int64_t num_layers) {
    return step_of(encode(context_of(level, num_layers), tensor.view(), layer));
  };
  const float unit = step("step-1.4", 15, 30) / 1.4F;
  // Differences of two unit normals have a root mean square near the square root of 2.
  EXPECT_NEAR(unit, 1.41F, 0.15F);
  EXPECT_FLOAT_EQ(step("step-1.4", 9, 30), 0.7F * unit);
  EXPECT_FLOAT_EQ(step("step-1.4", 10, 30), 1.4F * unit);
  EXPECT_FLOAT_EQ(step("step-1.4", 20, 30), 2.1F * unit);
  EXPECT_FLOAT_EQ(step("step-0.35", 0, 30), 0.175F * unit);
  EXPECT_FLOAT_EQ(step("step-0.7", 0, 1), 0.35F * unit);  // a single layer is the first third
}

TEST(CachegenPublished, AFirstTokenUnlikeAllOthersDoesNotSetTheStep) {
  const auto values = [](float first) {
    return [first](std::int64_t, std::int64_t token, std::int64_t dim) {
      return token == 0 ? first : static_cast<float>((token * 7 + dim * 3) % 5);
    };
  };
  const OwnedTensor usual({Dtype::kFp32, 1, 100, 32}, values(0));
  const OwnedTensor sink({Dtype::kFp32, 1, 100, 32}, values(1000));
  const float usual_step = step_of(encode(context_of("step-0.7"), usual.view()));
  const float sink_step = step_of(encode(context_of("step-0.7"), sink.view()));
  EXPECT_NEAR(sink_step, usual_step, 0.05F * usual_step);
}

TEST(CachegenPublished, TokensEqualToAnExactAnchorAreExact) {
  // A largest magnitude of 127 makes the anchor's step 1.
  const OwnedTensor tensor({Dtype::kBf16, 2, 30, 8}, [](std::int64_t head, auto, std::int64_t dim) {
    return head == 1 && dim == 7 ? 127.0F : static_cast<float>(head * 8 + dim);
  });
  const auto payload = encode(context_of("step-1.4"), tensor.view());
  EXPECT_EQ(step_of(payload), 0);
  OwnedTensor decoded(tensor.view().shape);
  ASSERT_TRUE(decode(context_of("step-1.4"), payload, decoded.mutable_view()).ok());
  EXPECT_EQ(decoded.memory(), tensor.memory());
}

TEST(CachegenPublished, ShortZeroNanAndInfiniteTensorsHaveDefinedResults) {
  for (const std::int64_t tokens : {0, 1, 9, 10, 11, 31}) {
    const OwnedTensor tensor({Dtype::kFp32, 1, tokens, 5},
                             [](std::int64_t, std::int64_t token, std::int64_t dim) {
                               if (token == 3) return std::numeric_limits<float>::quiet_NaN();
                               if (token == 4 && dim == 0)
                                 return std::numeric_limits<float>::infinity();
                               return 0.0F;
                             });
    const auto payload = encode(context_of("step-0.35"), tensor.view());
    EXPECT_EQ(encode(context_of("step-0.35"), tensor.view()), payload);
    OwnedTensor decoded(tensor.view().shape);
    ASSERT_TRUE(decode(context_of("step-0.35"), payload, decoded.mutable_view()).ok());
    for (std::int64_t token = 0; token < tokens; ++token) {
      const auto channels = token_of(decoded.view(), token);
      for (std::size_t dim = 0; dim < 5; ++dim) {
        if (token == 4 && dim == 0) {
          // The one value that is not 0, 65504, is a whole number of steps but for half a step.
          EXPECT_NEAR(channels[dim], 65504, 0.5F * step_of(payload) + 1);
        } else {
          EXPECT_EQ(channels[dim], 0) << "token " << token << " of " << tokens;
        }
      }
    }
  }
}

TEST(CachegenPublished, DamagedSectionsAreErrorsOrValuesAndNeverCrash) {
  RandomStream random(3, "published", 0);
  const OwnedTensor tensor({Dtype::kFp16, 2, 25, 16}, [&](auto, auto, auto) {
    return static_cast<float>(random.normal(0, 1));
  });
  OwnedTensor decoded(tensor.view().shape);
  const SectionContext context = context_of("step-0.7");
  auto payload = encode(context, tensor.view());
  for (std::size_t size = 0; size < payload.size(); ++size) {
    const std::vector<std::byte> cut(payload.begin(),
                                     payload.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(decode(context, cut, decoded.mutable_view()).ok()) << size;
  }
  for (std::size_t i = 0; i < payload.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      payload[i] ^= std::byte{1} << bit;
      (void)decode(context, payload, decoded.mutable_view());
      payload[i] ^= std::byte{1} << bit;
    }
  }
  EXPECT_TRUE(decode(context, payload, decoded.mutable_view()).ok());
  payload.push_back(std::byte{0});
  EXPECT_FALSE(decode(context, payload, decoded.mutable_view()).ok());
}

}  // namespace
}  // namespace sluice
