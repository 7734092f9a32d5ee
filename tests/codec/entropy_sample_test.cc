// What coding costs on real caches: the committed sample, and others named in
// SLUICE_LONG_CAPTURES=FILE:FILE. Prints the table that codec/entropy/README.md quotes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "base/random.h"
#include "codec/cachegen_released/binding.h"
#include "codec/cachegen_released/kernel.h"
#include "codec/capture_format.h"
#include "codec/entropy/binding.h"
#include "codec/registry.h"
#include "tests/codec/made_caches.h"

namespace sluice {
namespace {

struct Sizes {
  entropy::EntropyStats classes, shipped;
  std::int64_t channels = 0;
  std::int64_t tokens = 0;
};

double bits_per_element(std::int64_t bytes, const entropy::EntropyStats& stats) {
  return static_cast<double>(DataSize::bytes(bytes).bits()) / static_cast<double>(stats.elements);
}
double bits_per_element(const entropy::EntropyStats& stats) {
  return bits_per_element(stats.coded_bytes, stats);
}

// Level 2 of cachegen-released, coded with both models; scales are not counted.
Sizes measure(const KvView& view) {
  Sizes sizes;
  const auto level = find_codec_level("cachegen-released", "2");
  for (const auto& layer : view.layers) {
    for (const TensorKind kind : {TensorKind::kKey, TensorKind::kValue}) {
      const TensorView& values = *layer.find(kind);
      const SectionContext context{.level = level->level,
                                   .kind = kind,
                                   .num_model_layers = num_model_layers(shape_of(view))};
      const auto channels = static_cast<std::size_t>(values.shape.channels());
      std::vector<std::int16_t> symbols(static_cast<std::size_t>(values.shape.elements()));
      std::vector<float> token_values(channels);
      for (std::int64_t token = 0; token < values.shape.tokens; ++token) {
        values.read_token(token, token_values);
        (void)cachegen_released::quantise_token(
            token_values, cachegen_released::max_symbol(context, layer.layer),
            std::span(symbols).subspan(static_cast<std::size_t>(token) * channels, channels));
      }
      const entropy::SymbolMatrix matrix{values.shape.tokens, values.shape.channels(), symbols};
      auto classes = entropy::encode_plane(matrix, {.column_unit = values.shape.dim}).stats;
      auto shipped = entropy::encode_plane(matrix, {.model = entropy::PlaneModel::kShipped,
                                                    .column_unit = values.shape.dim})
                         .stats;
      classes.order0_bits = shipped.order0_bits = entropy::order0_bits(matrix);
      sizes.classes += classes;
      sizes.shipped += shipped;
      sizes.channels += values.shape.channels();
      sizes.tokens = values.shape.tokens;
    }
  }
  return sizes;
}

void print(const std::string& name, const Sizes& sizes) {
  const auto elements = static_cast<double>(sizes.classes.elements);
  // LMCache also sends a 32-bit length per channel and 256 tokens; our shipped option does not.
  const std::int64_t lengths_per_channel = (sizes.tokens + 255) / 256;
  const double lengths =
      32.0 * static_cast<double>(sizes.channels * lengths_per_channel) / elements;
  const double shipped = bits_per_element(sizes.shipped), classes = bits_per_element(sizes.classes);
  fmt::print(
      "{}, {} tokens, bits per element: order-0 {:.4f}; class family {:.4f} (side {:.4f}, "
      "{:+.2f} % over order-0); shipped tables {:.4f} (side {:.4f}, {:+.1f} %); class family "
      "against shipped {:+.1f} %, with LMCache's lengths {:+.1f} %\n",
      name, sizes.tokens, sizes.classes.order0_bits / elements, classes,
      bits_per_element(sizes.classes.side_bytes(), sizes.classes),
      100 * sizes.classes.overhead_fraction(), shipped,
      bits_per_element(sizes.shipped.side_bytes(), sizes.shipped),
      100 * sizes.shipped.overhead_fraction(), 100 * (classes / shipped - 1),
      100 * (classes / (shipped + lengths) - 1));
}

TEST(EntropySample, CodedSizeIsWithinFivePercentOfOrderZeroAt256Tokens) {
  const auto capture = read_capture(SLUICE_SOURCE_DIR "/tests/data/smollm2-gettysburg.safetensors");
  ASSERT_TRUE(capture.ok()) << capture.error().to_line();
  const Sizes sizes = measure(slice_tokens(capture->cache.view(), {0, 256}));
  print("sample", sizes);
  EXPECT_LT(sizes.classes.overhead_fraction(), 0.05);
  EXPECT_GT(sizes.classes.overhead_fraction(), 0);
  // 33 x 16 bits for 256 tokens are 2.0625 bit per element.
  EXPECT_NEAR(bits_per_element(sizes.shipped) -
                  sizes.shipped.order0_bits / static_cast<double>(sizes.shipped.elements),
              2.0625 + 0.02, 0.02);
  // LMCache also sends 32 bits of length per channel and 256 tokens: 45 % fewer bytes than that.
  EXPECT_LT(bits_per_element(sizes.classes), 0.55 * (bits_per_element(sizes.shipped) + 0.125));
}

// The last layer of Mistral-7B's shape: 8 KV heads of 128. Channels differ in mean and spread as
// those of real keys do; keys with a mean turn with RoPE (theta 10^6).
KvCache mistral_shaped(std::int64_t tokens) {
  constexpr std::int64_t kHeads = 8, kDim = 128;
  const TensorShape shape{Dtype::kFp16, kHeads, tokens, kDim};
  KvCache cache = KvCache::allocate({.facts = {}, .layers = {layer_of(31, shape)}});
  for (const TensorKind kind : {TensorKind::kKey, TensorKind::kValue}) {
    RandomStream random(21, to_text(kind), 0);
    const MutableTensorView out = cache.mutable_tensor(0, kind);
    for (std::int64_t head = 0; head < kHeads; ++head) {
      for (std::int64_t dim = 0; dim < kDim; ++dim) {
        const bool is_key = kind == TensorKind::kKey;
        const double mean = is_key ? random.normal(0, 1.5) : random.normal(0, 0.05);
        const double sigma = std::exp(random.normal(0, 0.4)) * (is_key ? 1 : 0.3);
        const double turn = std::pow(1e6, -static_cast<double>(dim % (kDim / 2)) / (kDim / 2));
        for (std::int64_t token = 0; token < tokens; ++token) {
          const double turned = is_key ? std::cos(turn * static_cast<double>(token)) : 1;
          out.set(head, token, dim, static_cast<float>(random.normal(mean * turned, sigma)));
        }
      }
    }
  }
  return cache;
}

TEST(EntropySample, MistralShapedDataIsWithinFivePercentAt256TokensAndTwoAt1536) {
  const KvCache whole = mistral_shaped(1536);
  const Sizes chunk = measure(slice_tokens(whole.view(), {0, 256}));
  const Sizes context = measure(whole.view());
  print("Mistral-shaped", chunk);
  print("Mistral-shaped", context);
  EXPECT_LT(chunk.classes.overhead_fraction(), 0.05);
  EXPECT_LT(context.classes.overhead_fraction(), 0.02);
  EXPECT_LT(bits_per_element(chunk.classes), 0.55 * (bits_per_element(chunk.shipped) + 0.125));
}

TEST(EntropySample, LongCapturesStayWithinTwoPercentOfOrderZero) {
  const char* const files = std::getenv("SLUICE_LONG_CAPTURES");
  if (files == nullptr) {
    GTEST_SKIP() << "set SLUICE_LONG_CAPTURES=FILE:FILE to captures of 1500 tokens or more "
                    "(./sluice codec capture); none is in the repository";
  }
  std::istringstream names(files);
  for (std::string file; std::getline(names, file, ':');) {
    const auto capture = read_capture(file);
    ASSERT_TRUE(capture.ok()) << capture.error().to_line();
    const KvView& view = capture->cache.view();
    const Sizes chunk = measure(slice_tokens(view, {0, 256}));
    const Sizes whole = measure(view);
    print(file, chunk);
    print(file, whole);
    ASSERT_GE(whole.tokens, 1500);
    EXPECT_LT(chunk.classes.overhead_fraction(), 0.05);
    EXPECT_LT(whole.classes.overhead_fraction(), 0.02);
  }
}

}  // namespace
}  // namespace sluice
