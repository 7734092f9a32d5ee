// cachegen-released against a plain implementation of its description, and its edges.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"
#include "codec/bytes.h"
#include "codec/cachegen_released/binding.h"
#include "codec/cachegen_released/kernel.h"
#include "codec/capture_format.h"
#include "codec/entropy/binding.h"
#include "codec/float16.h"
#include "codec/registry.h"
#include "tests/codec/owned_tensor.h"

namespace sluice {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

SectionContext context_of(const std::string& level, TensorKind kind, std::int64_t num_layers) {
  const auto found = find_codec_level("cachegen-released", level);
  EXPECT_TRUE(found.ok());
  return {.level = found->level, .kind = kind, .num_model_layers = num_layers};
}

// The symbols inside a section of one tensor, [token, channel].
std::vector<std::int16_t> symbols_of(const EncodedSection& section, const TensorShape& shape) {
  const auto scales = static_cast<std::size_t>(shape.tokens) * sizeof(std::uint16_t);
  std::vector<std::int16_t> symbols(static_cast<std::size_t>(shape.elements()));
  const auto plane = entropy::decode_plane(std::span(section.payload).subspan(scales), shape.tokens,
                                           shape.channels(), {}, symbols);
  EXPECT_TRUE(plane.ok());
  return symbols;
}

EncodedSection encode(const SectionContext& context, const TensorView& values,
                      std::int64_t layer = 0) {
  const SectionTensor tensor{.layer = layer, .values = values};
  auto section = cachegen_released_codec().encode_section(context, std::span(&tensor, 1));
  EXPECT_TRUE(section.ok());
  return std::move(*section);
}

Status decode(const SectionContext& context, std::span<const std::byte> payload,
              const MutableTensorView& values, std::int64_t layer = 0) {
  const MutableSectionTensor tensor{.layer = layer, .values = values};
  return cachegen_released_codec().decode_section(context, payload, std::span(&tensor, 1));
}

// Level 2 for SmolLM2's 30 layers, written out: the first 10/32 of the key layers and 2/32 of the
// value layers get 32 bins, all others 16.
std::int32_t bins_of_level_2(std::int64_t layer, bool is_key) {
  const std::int64_t layers_with_32_bins = is_key ? 10 : 2;
  return layer < layers_with_32_bins ? 32 : 16;
}

TEST(CachegenReleased, SymbolsOfTheSampleEqualAPlainImplementationOfTheDescription) {
  const auto capture = read_capture(SLUICE_SOURCE_DIR "/tests/data/smollm2-gettysburg.safetensors");
  ASSERT_TRUE(capture.ok()) << capture.error().to_line();
  const KvView& view = capture->cache.view();
  ASSERT_EQ(view.layers.size(), 30U);
  std::int64_t compared = 0;
  for (const auto& layer : view.layers) {
    for (const TensorKind kind : {TensorKind::kKey, TensorKind::kValue}) {
      const TensorView& values = *layer.find(kind);
      const auto coded =
          symbols_of(encode(context_of("2", kind, 30), values, layer.layer), values.shape);
      const std::int32_t bins = bins_of_level_2(layer.layer, kind == TensorKind::kKey);
      std::size_t at = 0;
      for (std::int64_t token = 0; token < values.shape.tokens; ++token) {
        float largest = 0;  // over all heads together
        for (std::int64_t head = 0; head < values.shape.heads; ++head) {
          for (std::int64_t dim = 0; dim < values.shape.dim; ++dim) {
            largest = std::max(largest, std::abs(values.at(head, token, dim)));
          }
        }
        const float factor = static_cast<float>(bins / 2 - 1) / largest;
        for (std::int64_t head = 0; head < values.shape.heads; ++head) {
          for (std::int64_t dim = 0; dim < values.shape.dim; ++dim) {
            const float symbol = std::nearbyint(values.at(head, token, dim) * factor);
            ASSERT_EQ(coded[at++], static_cast<std::int16_t>(symbol))
                << "layer " << layer.layer << " token " << token << " head " << head << " dim "
                << dim;
            ++compared;
          }
        }
      }
    }
  }
  EXPECT_EQ(compared, 11'520 * view.layers[0].key->shape.tokens);
}

TEST(CachegenReleased, LevelTablesFor32LayersAreThoseOfThePublicCode) {
  const auto symbol = [](const std::string& level, TensorKind kind, std::int64_t layer,
                         std::int64_t num_layers) {
    return cachegen_released::max_symbol(context_of(level, kind, num_layers), layer);
  };
  for (const std::int64_t layer : {0, 9, 10, 19, 20, 31}) {
    EXPECT_EQ(symbol("3", TensorKind::kKey, layer, 32), 15);
    EXPECT_EQ(symbol("3", TensorKind::kValue, layer, 32), 15);
    EXPECT_EQ(symbol("2", TensorKind::kKey, layer, 32), layer < 10 ? 15 : 7);
    EXPECT_EQ(symbol("2", TensorKind::kValue, layer, 32), layer < 2 ? 15 : 7);
    EXPECT_EQ(symbol("1", TensorKind::kKey, layer, 32), layer < 20 ? 7 : 5);
    EXPECT_EQ(symbol("1-shipped", TensorKind::kValue, layer, 32), layer < 2 ? 7 : 5);
  }
  // 80 layers: the same fractions.
  EXPECT_EQ(symbol("2", TensorKind::kKey, 24, 80), 15);
  EXPECT_EQ(symbol("2", TensorKind::kKey, 25, 80), 7);
  EXPECT_EQ(symbol("1", TensorKind::kKey, 49, 80), 7);
  EXPECT_EQ(symbol("1", TensorKind::kKey, 50, 80), 5);
  EXPECT_EQ(symbol("2", TensorKind::kValue, 4, 80), 15);
  EXPECT_EQ(symbol("2", TensorKind::kValue, 5, 80), 7);
}

TEST(CachegenReleased, TheExampleOfTheSpecComesOut) {
  const std::vector<float> channels = {2.0F, -0.5F, 0.1F};
  std::vector<std::int16_t> symbols(3);
  EXPECT_EQ(cachegen_released::quantise_token(channels, 15, symbols), 0x4000);
  EXPECT_THAT(symbols, ::testing::ElementsAre(15, -4, 1));
  EXPECT_EQ(cachegen_released::step_of(0x4000, 15), 2.0F / 15);
  const OwnedTensor tensor({Dtype::kFp32, 1, 1, 3}, [&](auto, auto, std::int64_t dim) {
    return channels[static_cast<std::size_t>(dim)];
  });
  const SectionContext context = context_of("3", TensorKind::kKey, 32);
  OwnedTensor decoded(tensor.view().shape);
  ASSERT_TRUE(decode(context, encode(context, tensor.view()).payload, decoded.mutable_view()).ok());
  EXPECT_EQ(decoded.view().at(0, 0, 0), 2.0F);
  EXPECT_EQ(decoded.view().at(0, 0, 1), -4 * (2.0F / 15));
  EXPECT_EQ(decoded.view().at(0, 0, 2), 2.0F / 15);
}

TEST(CachegenReleased, EveryBackendQuantisesEveryTokenAlike) {
  RandomStream random(5, "quantise", 0);
  for (std::int64_t channels = 1; channels <= 70; ++channels) {
    for (const double size : {1e-8, 1e-5, 1.0, 6e4}) {  // from subnormal scales to the largest
      std::vector<float> values;
      for (std::int64_t c = 0; c < channels; ++c) {
        values.push_back(codable(static_cast<float>(size * random.normal(0, 1))));
      }
      std::vector<std::int16_t> oracle(values.size()), symbols(values.size());
      const std::uint16_t scale = cachegen_released::quantise_token(values, 7, oracle);
      for (const Backend backend : available_backends()) {
        const auto quantise = cachegen_released::quantise_token_of(backend);
        ASSERT_EQ(quantise(values.data(), channels, 7, symbols.data()), scale);
        ASSERT_EQ(symbols, oracle) << channels << " channels near " << size;
      }
    }
  }
}

TEST(CachegenReleased, ZeroNanInfiniteAndTinyTokensHaveDefinedResults) {
  const float rows[][3] = {{0, 0, 0},          {kNan, 1, -1},        {kInfinity, -kInfinity, 32752},
                           {1e30F, -1e30F, 0}, {1e-30F, -1e-30F, 0}, {6e-8F, -9e-8F, 3e-8F}};
  const OwnedTensor tensor(
      {Dtype::kFp32, 1, 6, 3},
      [&](std::int64_t, std::int64_t token, std::int64_t dim) { return rows[token][dim]; });
  const SectionContext context = context_of("3", TensorKind::kKey, 32);
  const EncodedSection section = encode(context, tensor.view());
  OwnedTensor decoded(tensor.view().shape);
  ASSERT_TRUE(decode(context, section.payload, decoded.mutable_view()).ok());
  const auto row = [&](std::int64_t token) {
    std::vector<float> channels(3);
    decoded.view().read_token(token, channels);
    return channels;
  };
  EXPECT_THAT(row(0), ::testing::ElementsAre(0, 0, 0));
  EXPECT_THAT(row(1), ::testing::ElementsAre(0, 1, -1));
  const float top = 15 * (65504.0F / 15);
  EXPECT_THAT(row(2), ::testing::ElementsAre(top, -top, 8 * (65504.0F / 15)));
  EXPECT_THAT(row(3), ::testing::ElementsAre(top, -top, 0));
  EXPECT_THAT(row(4), ::testing::ElementsAre(0, 0, 0));  // below half of the smallest fp16
  // 9e-8 is 1.5 of the smallest fp16 and rounds to 2 of them, 1.19e-7: 15 steps of 7.9e-9.
  EXPECT_NEAR(row(5)[1], -9e-8F, 4e-9F);
}

TEST(CachegenReleased, EveryErrorIsAtMostHalfAStepOfItsToken) {
  RandomStream random(1, "cachegen", 0);
  const OwnedTensor tensor(
      {Dtype::kFp32, 3, 50, 8}, [&](std::int64_t, std::int64_t token, std::int64_t) {
        return static_cast<float>(random.normal(0, std::pow(2.0, static_cast<double>(token) - 10)));
      });
  for (const char* level : {"3", "2", "1", "3-shipped", "2-shipped", "1-shipped"}) {
    const SectionContext context = context_of(level, TensorKind::kValue, 32);
    OwnedTensor decoded(tensor.view().shape);
    const EncodedSection section = encode(context, tensor.view(), 16);
    ASSERT_TRUE(decode(context, section.payload, decoded.mutable_view(), 16).ok());
    std::vector<float> in(24), out(24);
    for (std::int64_t token = 0; token < 25; ++token) {  // later ones pass 65504
      tensor.view().read_token(token, in);
      decoded.view().read_token(token, out);
      float largest = 0;
      for (const float x : in) largest = std::max(largest, std::abs(x));
      const auto steps = static_cast<float>(cachegen_released::max_symbol(context, 16));
      for (std::size_t c = 0; c < in.size(); ++c) {
        EXPECT_LE(std::abs(in[c] - out[c]), 0.51F * largest / steps) << level << " token " << token;
      }
    }
  }
}

TEST(CachegenReleased, StridedAndOddShapesComeBackAsFromHeadMajor) {
  RandomStream random(2, "cachegen", 0);
  for (const std::int64_t tokens : {0, 1, 31, 300}) {
    for (const std::int64_t dim : {1, 31, 65}) {
      const OwnedTensor tensor({Dtype::kBf16, 2, tokens, dim}, [&](auto, auto, auto) {
        return static_cast<float>(random.normal(0.5, 1));
      });
      // The same values, token-major.
      TensorView other = tensor.view();
      std::vector<std::byte> memory(tensor.memory().size());
      MutableTensorView target{other.shape, memory.data(), token_major(other.shape)};
      std::vector<float> channels(static_cast<std::size_t>(other.shape.channels()));
      for (std::int64_t token = 0; token < tokens; ++token) {
        other.read_token(token, channels);
        target.write_token(token, channels);
      }
      const SectionContext context = context_of("2", TensorKind::kKey, 30);
      const EncodedSection section = encode(context, tensor.view());
      EXPECT_EQ(encode(context, target.view()).payload, section.payload);
      EXPECT_EQ(encode(context, tensor.view()).payload, section.payload);  // run after run
      OwnedTensor first(other.shape), second(other.shape);
      ASSERT_TRUE(decode(context, section.payload, first.mutable_view()).ok());
      ASSERT_TRUE(decode(context, section.payload, second.mutable_view()).ok());
      EXPECT_EQ(first.memory(), second.memory());
    }
  }
}

TEST(CachegenReleased, DamagedSectionsAreErrorsOrValuesAndNeverCrash) {
  RandomStream random(3, "cachegen", 0);
  const OwnedTensor tensor({Dtype::kFp16, 2, 20, 16}, [&](auto, auto, auto) {
    return static_cast<float>(random.normal(0, 1));
  });
  OwnedTensor decoded(tensor.view().shape);
  for (const char* level : {"2", "2-shipped"}) {
    const SectionContext context = context_of(level, TensorKind::kKey, 32);
    auto payload = encode(context, tensor.view()).payload;
    for (std::size_t size = 0; size < payload.size(); ++size) {
      const std::vector<std::byte> cut(payload.begin(),
                                       payload.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_FALSE(decode(context, cut, decoded.mutable_view()).ok()) << size;
    }
    auto longer = payload;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(decode(context, longer, decoded.mutable_view()).ok());
    for (std::size_t i = 0; i < payload.size(); ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        payload[i] ^= std::byte{1} << bit;
        (void)decode(context, payload, decoded.mutable_view());
        payload[i] ^= std::byte{1} << bit;
      }
    }
    EXPECT_TRUE(decode(context, payload, decoded.mutable_view()).ok());
  }
}

TEST(CachegenReleased, ASymbolBeyondTheLevelIsTakenAsItIs) {
  const OwnedTensor tensor({Dtype::kFp16, 1, 4, 8}, [](auto, auto, auto) { return 1.0F; });
  OwnedTensor decoded(tensor.view().shape);
  // Level 3 codes +-15 everywhere, level 1 has steps of a fifth in late layers: 15 / 5 = 3.
  const EncodedSection fine = encode(context_of("3", TensorKind::kKey, 32), tensor.view(), 31);
  ASSERT_TRUE(
      decode(context_of("1", TensorKind::kKey, 32), fine.payload, decoded.mutable_view(), 31).ok());
  EXPECT_EQ(decoded.view().at(0, 0, 0), 3.0F);
}

}  // namespace
}  // namespace sluice
