// The codec `sluice`: rungs that nest, errors within half a step, rotation undone, finer steps
// where attention goes, a basis from a model profile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "base/files.h"
#include "base/random.h"
#include "codec/capture_format.h"
#include "codec/container/decode.h"
#include "codec/container/encode.h"
#include "codec/measure/attention_error.h"
#include "codec/model_profile/model_profile.h"
#include "codec/sluice/rotation.h"
#include "codec/sluice/rungs.h"
#include "codec/token_importance.h"
#include "tests/codec/made_caches.h"

namespace sluice {
namespace {

using Bytes = std::vector<std::byte>;

CodecLevel level_of(const std::string& name) {
  return *find_codec_level("sluice", name);
}

std::string rung_name(int rung) {
  return "rung-" + std::to_string(rung);
}

Bytes encoded(const KvView& view, const std::string& level, const EncodeOptions& options = {}) {
  auto file = encode_container(view, level_of(level), options);
  EXPECT_TRUE(file.ok()) << file.error().to_line();
  return file.ok() ? *std::move(file) : Bytes{};
}

KvCache decoded(const Bytes& file, const DecodeOptions& options = {}) {
  auto cache = decode_container(file, "made.kvb", options);
  EXPECT_TRUE(cache.ok()) << cache.error().to_line();
  return cache.ok() ? *std::move(cache) : KvCache::allocate({});
}

double bits_per_element_of(const Bytes& file, const KvView& view) {
  return 8.0 * static_cast<double>(file.size()) / static_cast<double>(num_elements(shape_of(view)));
}

const Capture& sample() {
  static const Capture capture =
      *read_capture(*sluice_home() / "tests/data/smollm2-gettysburg.safetensors");
  return capture;
}

// One layer of fp32 tensors whose elements are value(kind, head, token, dim); keys post-RoPE.
template <typename Value>
KvCache filled_cache(const TensorShape& shape, std::int64_t first_token,
                     std::shared_ptr<const RopeFacts> rope, Value value) {
  KvShape shapes{.facts = {.keys = KeyForm::kPostRope}, .layers = {layer_of(0, shape)}};
  shapes.layers[0].first_token = first_token;
  shapes.layers[0].rope = std::move(rope);
  KvCache cache = KvCache::allocate(shapes);
  for (const TensorKind kind : {TensorKind::kKey, TensorKind::kValue}) {
    const MutableTensorView tensor = cache.mutable_tensor(0, kind);
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      for (std::int64_t token = 0; token < shape.tokens; ++token) {
        for (std::int64_t dim = 0; dim < shape.dim; ++dim)
          tensor.set(head, token, dim, value(kind, head, token, dim));
      }
    }
  }
  return cache;
}

TEST(SluiceRungs, ThreeOfThemMakeAFactorOfThree) {
  EXPECT_EQ(ladder::step_of(7), 1.0F);
  EXPECT_EQ(ladder::step_of(1), 9.0F);
  for (int rung = 4; rung <= ladder::kNumRungs; ++rung)
    EXPECT_NEAR(3 * ladder::step_of(rung) / ladder::step_of(rung - 3), 1, 1e-6) << rung;
}

TEST(SluiceRungs, AreMonotoneInSizeAndInDamage) {
  const auto importance = token_importance(sample());
  ASSERT_TRUE(importance.ok());
  double last_bits = 0, last_error = 1e9;
  for (int rung = 1; rung <= ladder::kNumRungs; ++rung) {
    const KvView& view = sample().cache.view();
    const Bytes file = encoded(view, rung_name(rung), {.importance = &*importance});
    const KvCache cache = decoded(file);
    double error = 0;
    for (std::size_t i = 0; i < view.layers.size(); ++i) {
      for (const TensorKind kind : {TensorKind::kKey, TensorKind::kValue}) {
        const TensorView a = *view.layers[i].find(kind), b = *cache.view().layers[i].find(kind);
        for (std::int64_t token = 0; token < a.shape.tokens; token += 5) {
          for (std::int64_t dim = 0; dim < a.shape.dim; ++dim)
            error += std::pow(a.at(0, token, dim) - b.at(0, token, dim), 2);
        }
      }
    }
    const double bits = bits_per_element_of(file, view);
    EXPECT_GT(bits, last_bits) << rung;
    EXPECT_LT(error, last_error) << rung;
    last_bits = bits;
    last_error = error;
  }
}

TEST(SluiceDigits, APrefixIsTheSingleLayerOfItsRungBitForBit) {
  const auto importance = token_importance(sample());
  ASSERT_TRUE(importance.ok());
  const EncodeOptions options{.importance = &*importance};
  const Bytes embedded = encoded(sample().cache.view(), "embedded", options);
  for (int digits = 0; digits <= 4; ++digits) {
    SCOPED_TRACE(digits);
    const Bytes single = encoded(sample().cache.view(), rung_name(1 + 3 * digits), options);
    expect_same(decoded(embedded, {.refinements_max = digits}).view(), decoded(single).view());
  }
}

TEST(SluiceDigits, AHeadThatBeginsBeforeATileOfZerosKeepsTheOrderOfItsTokens) {
  // 1200 rows of 2048 channels are three tiles of 704 columns: head 5 lies in two of them, and the
  // second is all zeros, no bytes. Tokens of several classes are coded in another order than
  // theirs.
  constexpr std::int64_t kTokens = 1201, kHeads = 8, kDim = 128;
  KvShape shape;
  shape.layers = {layer_of(0, {Dtype::kFp32, kHeads, kTokens, kDim})};
  KvCache cache = made_cache(shape);
  for (std::int64_t channel = 704; channel < 1408; ++channel) {
    const bool is_key = channel < kHeads * kDim;
    const auto tensor = cache.mutable_tensor(0, is_key ? TensorKind::kKey : TensorKind::kValue);
    for (std::int64_t token = 0; token < kTokens; ++token)
      tensor.set(channel / kDim % kHeads, token, channel % kDim, 0);
  }
  TokenImportance importance;
  Positions positions(kTokens);
  std::iota(positions.begin(), positions.end(), 0);
  auto& layer = importance.layers[0];
  layer.positions = positions;
  for (std::int64_t token = 0; token < kTokens; ++token)
    layer.root_mean_square.push_back(token % 3 == 0 ? 0.5F : 0.001F);
  const EncodeOptions options{.importance = &importance};
  const KvCache whole = decoded(encoded(cache.view(), "rung-4", options));
  const KvCache by_digits =
      decoded(encoded(cache.view(), "embedded", options), {.refinements_max = 1});
  expect_same(whole.view(), by_digits.view());
}

TEST(SluiceDigits, LayersCostAtMostTwoPercentMoreThanASingleOne) {
  const KvView& view = sample().cache.view();
  const Bytes embedded = encoded(view, "embedded"), single = encoded(view, "rung-13");
  EXPECT_LT(static_cast<double>(embedded.size()), 1.02 * static_cast<double>(single.size()));
}

TEST(SluiceRateControl, AFileIsAtMostAsLargeAsAllowedAndMoreBytesNeverHarm) {
  const KvView& view = sample().cache.view();
  const std::size_t bases = encoded(view, "rung-1").size();
  const std::size_t all = encoded(view, "embedded", {.layers_per_section = 1}).size();
  double last_error = 1e9;
  for (std::size_t size = bases + bases / 2; size < all; size += all / 6) {
    const Bytes file =
        encoded(view, "embedded",
                {.layers_per_section = 1, .max_size = DataSize::bytes(std::int64_t(size))});
    EXPECT_LE(file.size(), size);
    EXPECT_GT(file.size(), size - size / 5);  // a section is a small part
    const double error = value_error(view, decoded(file).view());
    EXPECT_LT(error, last_error);
    last_error = error;
  }
}

TEST(SluiceRateControl, TooFewBytesForTheBasesAreAnErrorThatSaysHowManyTheyTake) {
  const auto file = encode_container(sample().cache.view(), level_of("embedded"),
                                     {.max_size = DataSize::bytes(1000)});
  ASSERT_FALSE(file.ok());
  EXPECT_THAT(file.error().what, testing::HasSubstr("at `sluice@embedded` without any refinement"));
  const auto single = encode_container(sample().cache.view(), level_of("rung-7"),
                                       {.max_size = DataSize::bytes(1000)});
  ASSERT_FALSE(single.ok());
  EXPECT_THAT(single.error().what, testing::HasSubstr("at `sluice@rung-7`, more than"));
}

TEST(SluiceQuantiser, WithoutAProfileEveryErrorIsAtMostHalfAStepOfItsTensor) {
  RandomStream random(1);
  const KvCache cache = filled_cache({Dtype::kFp32, 2, 70, 8}, 5, nullptr, [&](auto...) {
    return static_cast<float>(random.normal(3, 2));
  });
  for (const int rung : {1, 5, 7, 10, 13, 19}) {
    const KvCache back = decoded(encoded(cache.view(), rung_name(rung)));
    for (const TensorKind kind : {TensorKind::kKey, TensorKind::kValue}) {
      const TensorView a = *cache.view().layers[0].find(kind);
      const TensorView b = *back.view().layers[0].find(kind);
      for (std::int64_t token = 0; token < 70; ++token) {
        // The tensor's scale is near its standard deviation, 2.
        EXPECT_LE(std::abs(a.at(1, token, 3) - b.at(1, token, 3)), 1.1F * ladder::step_of(rung));
      }
    }
  }
}

TEST(SluiceQuantiser, EveryValueAndEveryAttentionFactorGivesAFileThatDecodes) {
  for (const double factor : {1.0, 1e-3, 1e-40, 1e18}) {
    const RopeFacts rope{
        .theta = 1e4, .rotated_dims = 2, .pairing = RopePairing::kHalf, .attention_factor = factor};
    const KvCache cache =
        filled_cache({Dtype::kFp32, 1, 2, 2}, 1, std::make_shared<const RopeFacts>(rope),
                     [](auto, auto, std::int64_t token, auto) {
                       return token == 0 ? std::numeric_limits<float>::infinity() : -7e4F;
                     });
    const KvCache back = decoded(encoded(cache.view(), "rung-7"));
    EXPECT_TRUE(std::isfinite(back.view().layers[0].key->at(0, 1, 1))) << factor;
  }
}

TEST(SluiceDigits, APrefixIsTheRungAlsoWhereSymbolsAreLimited) {
  // A scale so small that a value of 60 is 67 500 steps of rung 13, even for the coarsest class.
  auto profile = with_inverses({.name = {},
                                .model = {},
                                .revision = {},
                                .block = BasisBlock::kDiagonal,
                                .sha256 = {},
                                .layers = {{.layer = 0,
                                            .key_heads = 1,
                                            .key_dim = 1,
                                            .value_heads = 1,
                                            .value_dim = 1,
                                            .means = {0, 0},
                                            .scales = {0.001F, 0.001F},
                                            .basis = {},
                                            .widths = {1, 1}}},
                                .inverses = {}});
  const KvCache cache =
      filled_cache({Dtype::kFp32, 1, 3, 1}, 1, nullptr, [](auto...) { return 60.0F; });
  const EncodeOptions options{.model_profile = profile.get()};
  const Bytes embedded = encoded(cache.view(), "embedded", options);
  for (int digits = 0; digits <= 4; ++digits) {
    const DecodeOptions decoding{.refinements_max = digits,
                                 .model_profiles = std::span(&profile, 1)};
    const Bytes single = encoded(cache.view(), rung_name(1 + 3 * digits), options);
    expect_same(decoded(embedded, decoding).view(), decoded(single, decoding).view());
  }
}

TEST(SluiceProfile, AFileThatNeedsOneIsAnErrorWhereNoneIsGiven) {
  const auto profile = find_model_profile("smollm2-135m-diag");
  ASSERT_TRUE(profile.ok()) << profile.error().to_line();
  Bytes file = encoded(sample().cache.view(), "rung-1", {.model_profile = profile->get()});
  EXPECT_TRUE(decode_container(file, "made.kvb").ok());  // it ships
  auto other = std::make_shared<ModelProfile>(**profile);
  other->sha256.fill(std::byte{1});
  file = encoded(sample().cache.view(), "rung-1", {.model_profile = other.get()});
  const std::shared_ptr<const ModelProfile> none;
  const auto cache = decode_container(file, "made.kvb", {.model_profiles = std::span(&none, 1)});
  ASSERT_FALSE(cache.ok());
  EXPECT_THAT(cache.error().what, testing::HasSubstr("which is not here"));
}

TEST(SluiceRotation, SinesAreThoseOfTheMathematicalLibrary) {
  for (const double angle : {0.0, 1e-9, 0.7, -0.8, 1.5707963, 3.1415926, 12345.678, -1e6, 3e7}) {
    const auto [sine, cosine] = ladder::sine_cosine(angle);
    EXPECT_NEAR(sine, std::sin(angle), 1e-9) << angle;
    EXPECT_NEAR(cosine, std::cos(angle), 1e-9) << angle;
  }
  const auto [sine, cosine] = ladder::sine_cosine(std::numeric_limits<double>::infinity());
  EXPECT_EQ(sine, 0);
  EXPECT_EQ(cosine, 1);
}

TEST(SluiceRotation, TurnsThePairThatThePairingNamesByThePositionsAngle) {
  RopeFacts rope{.theta = 10'000, .rotated_dims = 4, .pairing = RopePairing::kHalf};
  const std::int64_t positions[] = {0, 1, 64, 1000};
  const auto table = ladder::rotation_table(rope, positions, false);
  ASSERT_EQ(table.pairs, 2);
  for (std::size_t t = 0; t < 4; ++t) {
    const auto p = static_cast<double>(positions[t]);
    EXPECT_NEAR(table.cosines[2 * t], std::cos(p), 1e-6);            // 10000^0
    EXPECT_NEAR(table.cosines[2 * t + 1], std::cos(p / 100), 1e-6);  // 10000^(-2/4)
    EXPECT_NEAR(table.sines[2 * t + 1], std::sin(p / 100), 1e-6);
  }
  EXPECT_EQ(table.pairing, (ladder::Pairing{.first = 0, .step = 1, .distance = 2}));
  rope.pairing = RopePairing::kInterleaved;
  EXPECT_EQ(ladder::rotation_table(rope, positions, false).pairing,
            (ladder::Pairing{.first = 0, .step = 2, .distance = 1}));
}

TEST(SluiceRotation, AKeyThatOnlyTurnsCostsNextToNothing) {
  const RopeFacts rope{.theta = 100, .rotated_dims = 64, .pairing = RopePairing::kHalf};
  const auto angle = [&](std::int64_t token, std::int64_t dim) {
    return std::pow(100.0, -static_cast<double>(dim % 32) / 32) * static_cast<double>(token + 7);
  };
  const auto turning = [&](TensorKind kind, auto, std::int64_t token, std::int64_t dim) {
    if (kind == TensorKind::kValue) return 0.0F;
    return static_cast<float>(dim < 32 ? std::cos(angle(token, dim)) : std::sin(angle(token, dim)));
  };
  const TensorShape shape{Dtype::kFp32, 1, 512, 64};
  const KvCache known = filled_cache(shape, 7, std::make_shared<const RopeFacts>(rope), turning);
  const KvCache unknown = filled_cache(shape, 7, nullptr, turning);
  EXPECT_LT(4 * encoded(known.view(), "rung-7").size(), encoded(unknown.view(), "rung-7").size());
}

TEST(SluiceClasses, ATokenThatIsAttendedToIsKeptBetter) {
  RandomStream random(2);
  const KvCache cache = filled_cache({Dtype::kFp32, 1, 100, 64}, 3, nullptr, [&](auto...) {
    return static_cast<float>(random.normal(0, 1));
  });
  TokenImportance importance;
  Positions positions(100);
  std::iota(positions.begin(), positions.end(), 3);
  importance.layers[0] = {.positions = positions,
                          .root_mean_square = std::vector<float>(100, 0.001F),
                          .total = {},
                          .observed = {}};
  importance.layers[0].root_mean_square[40] = 0.5F;
  const auto error_at = [&](const KvCache& back, std::int64_t token) {
    double error = 0;
    for (std::int64_t dim = 0; dim < 64; ++dim)
      error += std::abs(cache.view().layers[0].value->at(0, token, dim) -
                        back.view().layers[0].value->at(0, token, dim));
    return error;
  };
  const KvCache plain = decoded(encoded(cache.view(), "rung-5"));
  const KvCache steered = decoded(encoded(cache.view(), "rung-5", {.importance = &importance}));
  // Its attention is about 50 times the others': a class of -4 or less, a quarter of the step.
  EXPECT_LT(error_at(steered, 40), 0.4 * error_at(plain, 40));
}

TEST(SluiceProfile, ABasisTakesTheCorrelationOfChannelsOutAndIsNamedByItsHash) {
  // Key and value of one channel each, nearly equal: sum and difference are the coefficients.
  auto profile = std::make_shared<ModelProfile>();
  profile->block = BasisBlock::kLayer;
  profile->sha256.fill(std::byte{7});
  profile->layers = {{.layer = 0,
                      .key_heads = 1,
                      .key_dim = 1,
                      .value_heads = 1,
                      .value_dim = 1,
                      .means = {10, -10},
                      .scales = {0.01F, 0.01F},
                      .basis = {100, 100, 1, -1},
                      .widths = {2}}};
  const std::shared_ptr<const ModelProfile> known = with_inverses(*profile);
  RandomStream random(3);
  std::vector<float> common;
  for (int token = 0; token < 300; ++token)
    common.push_back(static_cast<float>(random.normal(0, 1)));
  const KvCache cache = filled_cache({Dtype::kFp32, 1, 300, 1}, 1, nullptr,
                                     [&](TensorKind kind, auto, std::int64_t token, auto) {
                                       return common[static_cast<std::size_t>(token)] +
                                              (kind == TensorKind::kKey ? 10.0F : -10.0F);
                                     });
  const Bytes file = encoded(cache.view(), "rung-13", {.model_profile = known.get()});
  const auto header = parse_header(file, "made.kvb");
  ASSERT_TRUE(header.ok());
  EXPECT_EQ(header->model_profile, profile->sha256);
  EXPECT_FALSE(decode_container(file, "made.kvb").ok());  // the profile is not here
  const KvCache back = decoded(file, {.model_profiles = std::span(&known, 1)});
  for (std::int64_t token = 0; token < 300; ++token) {
    // Half a step of either coefficient: (0.5 * 100 + 0.5 * 1) * 0.01 / 9.
    EXPECT_LE(std::abs(cache.view().layers[0].key->at(0, token, 0) -
                       back.view().layers[0].key->at(0, token, 0)),
              0.06F);
  }
}

}  // namespace
}  // namespace sluice
