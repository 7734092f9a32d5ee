// The codec `sluice` on a GPU beyond the contract of every device codec: prefixes of digits, keys
// that turn, token classes, the bases of model profiles, damage in any of the payloads.
// Where in the flow: compiled twice, as device_codec_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "base/random.h"
#include "codec/registry.h"
#include "codec/sluice/rungs.h"
#include "tests/codec/made_caches.h"
#include "tests/device/device_run.h"
#include "tests/device/kernel_order.h"
#include "tests/device/made_basis.h"

namespace sluice {
namespace {

std::shared_ptr<const RopeFacts> made_rope(RopePairing pairing, std::int64_t rotated,
                                           std::int64_t first) {
  RopeFacts rope;
  rope.theta = 1000;
  rope.rotated_dims = rotated;
  rope.first_rotated_dim = first;
  rope.pairing = pairing;
  rope.attention_factor = 1.25;
  return std::make_shared<const RopeFacts>(rope);
}

// One section with all its payloads, base first.
struct Layered {
  MadeSection section;
  std::vector<std::vector<float>> importance;  // that the section's tensors point to
  std::vector<Bytes> payloads;
};

const Codec& codec() {
  return **find_codec("sluice");
}

class SluiceOnDevice : public testing::Test {
 protected:
  void SetUp() override {
    const auto gpu = find_gpu();
    if (!gpu) GTEST_SKIP() << gpu.error().to_line();
    runner_.emplace(gpu->target(2));
  }
  void TearDown() override { use_kernel_order(0); }

  // The first section of a cache whose tokens are attended to unevenly.
  static Layered encoded(const KvCache& cache, const std::string& level,
                         const ModelProfile* profile = nullptr, bool has_keys = true) {
    const auto named = find_codec_level("sluice", level);
    Layered made{.section = sections_of(cache.view(), codec(), named->level).front()};
    made.section.context.model_profile = profile;
    if (!has_keys) {
      std::erase_if(made.section.tensors,
                    [](const SectionTensor& tensor) { return tensor.kind == TensorKind::kKey; });
    }
    for (const SectionTensor& tensor : made.section.tensors) {
      std::vector<float>& weights = made.importance.emplace_back();
      for (std::int64_t token = 0; token < tensor.values.shape.tokens; ++token)
        weights.push_back(std::exp2(-static_cast<float>(token * 5 % 17)));
    }
    for (std::size_t i = 0; i < made.importance.size(); ++i)
      made.section.tensors[i].importance = made.importance[i];
    SectionContext context = made.section.context;
    for (; context.refinement <= codec().info.levels[named->level].refinements;
         ++context.refinement) {
      auto section = codec().encode_section(context, made.section.tensors);
      EXPECT_TRUE(section) << section.error().to_line();
      made.payloads.push_back(std::move(section->payload));
    }
    return made;
  }

  // Both backends of the CPU and the device judge the payloads alike, under an order of threads.
  // Returns the error's text.
  std::string expect_alike(const Layered& made, std::span<const Bytes> payloads,
                           DeviceLayout layout = DeviceLayout::kPagedTokenMajor) {
    const std::vector<std::span<const std::byte>> lower(payloads.begin(), payloads.end() - 1);
    MadeSection section = made.section;
    section.context.lower_payloads = lower;
    section.context.refinement = static_cast<std::int32_t>(lower.size());
    const DeviceSection tensors(section.tensors, layout);
    use_kernel_order(++order_ % num_kernel_orders());
    const Decoded found = runner_->decode(device(), section, payloads.back(), tensors);
    const Decoded expected = decode_on_cpu(codec(), section, payloads.back());
    EXPECT_EQ(found.error, expected.error);
    EXPECT_TRUE(found == expected);
    section.context.backend = best_backend();
    EXPECT_TRUE(decode_on_cpu(codec(), section, payloads.back()) == expected);
    return expected.error;
  }

  static const DeviceCodec& device() { return **find_device_codec("sluice"); }

  std::optional<DeviceRunner> runner_;
  int order_ = 0;
};

// A key that turns and its value, 3 heads of 10 dims of which 6 turn, from the context's start on;
// a layer of other dtypes at positions with gaps; a layer without RoPE facts.
KvCache turning_cache(RopePairing pairing) {
  KvShape shape{.facts = {.keys = KeyForm::kPostRope}, .layers = {}};
  shape.layers.push_back(layer_of(0, {Dtype::kBf16, 3, 70, 10}));
  shape.layers.push_back(layer_at(1, {Dtype::kFp32, 1, 5, 9}, {3, 4, 64, 65, 1000}));
  shape.layers.push_back(layer_of(3, {Dtype::kFp16, 2, 6, 4}));
  shape.layers[0].rope = made_rope(pairing, 6, 2);
  shape.layers[1].rope = made_rope(pairing, 9, 0);
  return made_cache(shape);
}

TEST_F(SluiceOnDevice, EveryRungOfTurningKeysGivesTheElementsOfTheCpu) {
  const KvCache cache = turning_cache(RopePairing::kHalf);
  for (int rung = 1; rung <= ladder::kNumRungs; ++rung) {
    SCOPED_TRACE(rung);
    const Layered made = encoded(cache, "rung-" + std::to_string(rung));
    EXPECT_EQ(expect_alike(made, made.payloads), "");
  }
}

TEST_F(SluiceOnDevice, EveryPrefixOfDigitsGivesThem) {
  const KvCache cache = turning_cache(RopePairing::kInterleaved);
  const Layered made = encoded(cache, "embedded");
  ASSERT_EQ(made.payloads.size(), 5U);
  for (std::size_t count = 1; count <= 5; ++count) {
    SCOPED_TRACE(count);
    EXPECT_EQ(expect_alike(made, std::span(made.payloads).first(count)), "");
  }
}

TEST_F(SluiceOnDevice, EveryBlockOfAModelProfileGivesThemAtEveryRung) {
  // More than a piece of sums, 64 x 64, in both directions, and a width that is no multiple of 4.
  const TensorShape key{Dtype::kFp16, 2, 67, 19}, value{Dtype::kBf16, 1, 67, 35};
  KvShape shape{.facts = {.keys = KeyForm::kPostRope}, .layers = {layer_of(0, key)}};
  shape.layers[0].value = value;
  shape.layers[0].rope = made_rope(RopePairing::kHalf, 18, 0);
  const KvCache cache = made_cache(shape);
  for (const BasisBlock block : {BasisBlock::kDiagonal, BasisBlock::kHead, BasisBlock::kLayer}) {
    const ModelProfilePtr profile = made_profile(block, key, value);
    const Layered made = encoded(cache, "embedded", profile.get());
    for (std::size_t count = 1; count <= 5; ++count) {
      SCOPED_TRACE(std::string(to_text(block)) + ", payloads: " + std::to_string(count));
      EXPECT_EQ(expect_alike(made, std::span(made.payloads).first(count)), "");
    }
    for (const int rung : {2, 9, 12, 14, 18, 19}) {
      SCOPED_TRACE(std::string(to_text(block)) + ", rung " + std::to_string(rung));
      const Layered single = encoded(cache, "rung-" + std::to_string(rung), profile.get());
      EXPECT_EQ(expect_alike(single, single.payloads, DeviceLayout::kDimStrided), "");
    }
  }
}

TEST_F(SluiceOnDevice, CodedOffsetsOfABasisGiveThem) {
  // 256 rows are enough for offsets in the stream.
  const TensorShape shape{Dtype::kFp16, 1, 258, 3};
  const KvCache cache = made_cache({.facts = {}, .layers = {layer_of(0, shape)}});
  const ModelProfilePtr profile = made_profile(BasisBlock::kLayer, shape, shape);
  const Layered made = encoded(cache, "rung-7", profile.get());
  EXPECT_NE(made.payloads[0][0] & std::byte{2}, std::byte{0});
  EXPECT_EQ(expect_alike(made, made.payloads), "");
}

TEST_F(SluiceOnDevice, LatentsAndValuesAloneGiveThem) {
  KvShape latents{.facts = {.keys = KeyForm::kPostRope}, .layers = {{}}};
  latents.layers[0].latent = TensorShape{Dtype::kBf16, 1, 9, 40};
  latents.layers[0].rope = made_rope(RopePairing::kInterleaved, 8, 32);
  // The second layer is nothing but a raw token.
  const KvShape values{
      .facts = {},
      .layers = {layer_of(0, {Dtype::kFp16, 2, 9, 5}), layer_of(1, {Dtype::kFp32, 2, 1, 5})}};
  for (const KvShape& shape : {latents, values}) {
    const KvCache cache = made_cache(shape);
    const Layered made = encoded(cache, "rung-16", nullptr, false);
    EXPECT_EQ(expect_alike(made, made.payloads), "");
  }
}

TEST_F(SluiceOnDevice, DamageInAnyPayloadIsJudgedAsTheCpuDoes) {
  const TensorShape shape{Dtype::kFp16, 1, 20, 5};
  KvShape shapes{.facts = {.keys = KeyForm::kPostRope},
                 .layers = {layer_of(0, shape), layer_of(1, shape)}};
  shapes.layers[0].rope = shapes.layers[1].rope = made_rope(RopePairing::kHalf, 4, 0);
  const KvCache cache = made_cache(shapes);
  const ModelProfilePtr profile = made_profile(BasisBlock::kHead, shape, shape);
  RandomStream random(22);
  int refused = 0, accepted = 0;
  for (const std::string level : {"embedded", "rung-17"}) {
    const Layered made = encoded(cache, level, profile.get());
    for (int round = 0; round < 60; ++round) {
      SCOPED_TRACE(level + ", round " + std::to_string(round));
      std::vector<Bytes> payloads = made.payloads;
      // Behind the first layer's flags stands its raw token: any bytes of it are elements.
      const bool is_in_raw_token = round % 6 == 0;
      if (is_in_raw_token) payloads[0][1 + random.below(20)] ^= std::byte{0xFF};
      for (std::uint64_t changes = is_in_raw_token ? 0 : 1 + random.below(3); changes > 0;
           --changes) {
        Bytes& changed = payloads[random.below(payloads.size())];
        if (random.below(8) == 0) changed.resize(random.below(changed.size() + 2));
        if (!changed.empty())
          changed[random.below(changed.size())] ^= std::byte{1} << random.below(8);
      }
      ++(expect_alike(made, payloads).empty() ? accepted : refused);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(refused, 60);
  EXPECT_GE(accepted, 20);
}

}  // namespace
}  // namespace sluice
