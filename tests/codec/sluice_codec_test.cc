// The codec `sluice`: rungs that nest, errors within half a step, rotation undone, finer steps
// where attention goes, a basis from a model profile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/files.h"
#include "base/random.h"
#include "codec/capture_format.h"
#include "codec/codable.h"
#include "codec/container/decode.h"
#include "codec/container/encode.h"
#include "codec/measure/attention_error.h"
#include "codec/model_profile/model_profile.h"
#include "codec/sluice/kernel.h"
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

TEST(SluiceKernels, SumsAreThoseOfWholeNumbers) {
  // 3 * (10, 20) - 40 * (-128, 127), and 0 * (10, 20) + 1 * (-128, 127).
  const std::int8_t factors[] = {10, 20, -128, 127};
  const std::int16_t symbols[] = {3, -40, 0, 1};
  std::int32_t sums[4];
  for (const Backend backend : available_backends()) {
    ladder::kernels_of(backend).synthesise(symbols, 2, 2, {factors, 2}, sums);
    EXPECT_THAT(sums, testing::ElementsAre(5150, -5020, -128, 127));
  }
}

// Rows of all kinds: mostly 0, small, at the ends of what 8-bit products hold, any.
TEST(SluiceKernels, AgreeToTheBitOnEveryWidthAndExtremeSymbols) {
  RandomStream random(4);
  constexpr std::int64_t kRows = 67;
  for (const std::int64_t width : {1, 2, 7, 8, 33, 40, 64, 129, 384, 1096, 1100}) {
    const std::int64_t stride = width + 3;
    std::vector<std::int16_t> symbols(static_cast<std::size_t>(kRows * stride));
    for (std::int64_t row = 0; row < kRows; ++row) {
      const std::uint64_t span = row % 4 == 0 ? 65'536 : row % 4 == 1 ? 63 : row % 4 == 2 ? 9 : 71;
      for (std::int64_t j = 0; j < width; ++j) {
        const auto symbol = static_cast<std::int16_t>(random.below(span) - span / 2);
        const bool is_zero = row % 4 == 2 && random.below(16) != 0;
        symbols[static_cast<std::size_t>(row * stride + j)] = is_zero ? 0 : symbol;
      }
    }
    symbols[0] = INT16_MIN;
    std::vector<std::int8_t> factors(static_cast<std::size_t>(width * width));
    for (auto& factor : factors) factor = static_cast<std::int8_t>(random.below(256));
    for (std::int64_t c = 0; c < width; ++c) factors[static_cast<std::size_t>(c)] = -128;
    std::vector<std::int32_t> expected(symbols.size()), found(symbols.size());
    ladder::kScalarKernels.synthesise(symbols.data(), kRows, stride, {factors.data(), width},
                                      expected.data());
    for (const Backend backend : available_backends()) {
      ladder::kernels_of(backend).synthesise(symbols.data(), kRows, stride, {factors.data(), width},
                                             found.data());
      EXPECT_EQ(expected, found) << width;
    }
  }
}

// The largest sums that 16 bits must hold on the way.
TEST(SluiceKernels, SymbolsAndFactorsAtTheEndsOfTheirRangeDoNotSaturate) {
  constexpr std::int64_t kWidth = 64;
  for (const std::int16_t symbol : {31, -31, 32, -32, 127, -32768}) {
    for (const std::int8_t factor : {-128, 127}) {
      const std::vector<std::int16_t> symbols(kWidth, symbol);
      const std::vector<std::int8_t> factors(kWidth * kWidth, factor);
      std::vector<std::int32_t> sums(kWidth);
      for (const Backend backend : available_backends()) {
        ladder::kernels_of(backend).synthesise(symbols.data(), 1, kWidth, {factors.data(), kWidth},
                                               sums.data());
        EXPECT_THAT(sums, testing::Each(kWidth * symbol * factor)) << symbol << ' ' << int{factor};
      }
    }
  }
}

// Lines of a head as kernels see them: whole numbers in pieces, scales, offsets, a turn.
struct MadeHead {
  static constexpr std::int64_t kLines = 5;
  static constexpr std::uint16_t kOrder[kLines] = {3, 0, 4, 1, 2};
  std::int64_t dim, piece_stride;
  ladder::Turn turn;
  std::vector<std::int16_t> symbols;
  std::vector<std::int32_t> sums;
  std::vector<float> steps = {0.7F, 1, 8, 0.0625F, 1.41421356F};
  std::vector<float> scales, offsets, cosines, sines;

  MadeHead(std::int64_t dims, std::int64_t pairs, const ladder::Pairing& pairing)
      : dim(dims), piece_stride(kLines * entropy::kLanes + 3) {
    RandomStream random(9);
    const std::int64_t pieces = (dim + entropy::kLanes - 1) / entropy::kLanes;
    for (std::int64_t i = 0; i < pieces * piece_stride; ++i) {
      sums.push_back(static_cast<std::int32_t>(random.below(std::uint64_t{1} << 32)));
      symbols.push_back(static_cast<std::int16_t>(random.below(65'536)));
    }
    for (std::int64_t c = 0; c < dim; ++c) {
      scales.push_back(static_cast<float>(std::exp(random.normal(-9, 3))));
      offsets.push_back(static_cast<float>(random.normal(0, 5)));
    }
    symbols[1] = 0;
    sums[1] = 0;
    for (std::int64_t i = 0; i < kLines * pairs; ++i) {
      cosines.push_back(static_cast<float>(std::cos(i + 1)));
      sines.push_back(static_cast<float>(std::sin(i + 1)));
    }
    turn = {cosines.data(), sines.data(), pairs, pairing};
  }

  // The rows' elements, five bytes between one row and the next.
  [[nodiscard]] std::vector<std::byte> finished(Backend backend, Dtype dtype, bool is_sums,
                                                const std::uint16_t* order) const {
    const std::int64_t row_bytes = dim * bytes_per_element(dtype) + 5;
    std::vector<std::byte> bytes(static_cast<std::size_t>(kLines * row_bytes), std::byte{0xA5});
    const ladder::HeadFinish head{steps.data(), scales.data(), offsets.data(), turn,
                                  dtype,        dim,           bytes.data(),   row_bytes};
    const ladder::Kernels& kernels = ladder::kernels_of(backend);
    if (is_sums) {
      kernels.finish_sums({sums.data(), entropy::kLanes, piece_stride, kLines, order}, head);
    } else {
      kernels.finish_symbols({symbols.data(), entropy::kLanes, piece_stride, kLines, order}, head);
    }
    return bytes;
  }
};

TEST(SluiceKernels, FinishHeadsToTheSameBytesWhateverTurnsAndHoweverWide) {
  MadeHead made[] = {{64, 0, {}},        {64, 32, {0, 1, 32}},  {96, 16, {16, 1, 16}},
                     {96, 8, {8, 1, 8}}, {64, 12, {16, 2, 1}},  {7, 3, {0, 1, 3}},
                     {40, 5, {3, 2, 1}}, {128, 20, {0, 1, 20}}, {576, 32, {512, 2, 1}}};
  for (const bool has_infinity : {false, true}) {
    for (MadeHead& head : made) {
      // 0 of these steps is no number.
      if (has_infinity) head.scales[1] = std::numeric_limits<float>::infinity();
      for (const Dtype dtype : {Dtype::kFp16, Dtype::kBf16, Dtype::kFp32}) {
        for (const bool is_sums : {false, true}) {
          for (const std::uint16_t* order :
               {static_cast<const std::uint16_t*>(nullptr), std::data(MadeHead::kOrder)}) {
            const auto expected = head.finished(Backend::kScalar, dtype, is_sums, order);
            for (const Backend backend : available_backends())
              EXPECT_EQ(head.finished(backend, dtype, is_sums, order), expected)
                  << head.dim << ' ' << to_text(dtype) << ' ' << to_text(backend);
          }
        }
      }
    }
  }
}

TEST(SluiceKernels, ATokenIsScaledShiftedAndTurnedByItsAngle) {
  // (2 * 3) * 5 + 1 = 31 and (2 * 4) * -2 + 1 = -15, turned by a right angle; the third dim stays,
  // as far as it is codable.
  const std::int16_t symbols[] = {5, -2, 10'000};
  const float step = 2, scales[] = {3, 4, 4}, offsets[] = {1, 1, 0};
  const float cosine = 0, sine = 1;
  float elements[3];
  for (const Backend backend : available_backends()) {
    ladder::kernels_of(backend).finish_symbols({.first = symbols, .lines = 1},
                                               {&step,
                                                scales,
                                                offsets,
                                                {&cosine, &sine, 1, {0, 1, 1}},
                                                Dtype::kFp32,
                                                3,
                                                std::as_writable_bytes(std::span(elements)).data(),
                                                0});
    EXPECT_THAT(elements, testing::ElementsAre(15, 31, kMaxCodable));
  }
}

TEST(SluiceKernels, SinesAreThoseOfSineCosineToTheBit) {
  std::vector<double> angles = {0,   -0.0, 1e-9, 0.7,  -0.8,       1.5707963,   3.1415926,
                                4.8, -1e6, 3e7,  -2e9, 1073741824, 1073741823.9};
  angles.push_back(std::numeric_limits<double>::quiet_NaN());
  angles.push_back(-std::numeric_limits<double>::infinity());
  RandomStream random(3);
  while (angles.size() < 1001) angles.push_back(random.normal(0, 1e5));
  for (const Backend backend : available_backends()) {
    std::vector<double> sines(angles.size()), cosines(angles.size());
    ladder::kernels_of(backend).sines_of(angles.data(), std::ssize(angles), sines.data(),
                                         cosines.data());
    for (std::size_t i = 0; i < angles.size(); ++i) {
      const auto [sine, cosine] = ladder::sine_cosine(angles[i]);
      EXPECT_EQ(std::bit_cast<std::uint64_t>(sines[i]), std::bit_cast<std::uint64_t>(sine));
      EXPECT_EQ(std::bit_cast<std::uint64_t>(cosines[i]), std::bit_cast<std::uint64_t>(cosine));
    }
  }
}

// Values, offsets and factors of so many channels, some of them extreme.
std::vector<float> made_floats(std::int64_t count, std::uint64_t seed) {
  RandomStream random(seed);
  std::vector<float> values;
  while (std::ssize(values) < count)
    values.push_back(static_cast<float>(random.normal(0, random.below(4) == 0 ? 1e6 : 30)));
  return values;
}

TEST(SluiceKernels, EncodersComeToTheSameNumbersOnEveryWidth) {
  for (const std::int64_t width : {1, 7, 8, 15, 24, 33, 64}) {
    constexpr std::int64_t kRows = 7;
    const std::int64_t stride = width + 2;
    const auto values = made_floats(kRows * stride, 1), offsets = made_floats(width, 2);
    const auto inverse = made_floats(width * width, 3);
    const auto all_of = [&](Backend backend) {
      const ladder::Kernels& kernels = ladder::kernels_of(backend);
      std::vector<float> products(values.size());
      kernels.analyse(values.data(), kRows, stride, inverse.data(), width, products.data());
      std::vector<double> sums(static_cast<std::size_t>(width), 0.25), squares = sums, alone = sums;
      kernels.add_moments(values.data(), width, sums.data(), squares.data());
      kernels.add_moments(values.data(), width, alone.data(), nullptr);
      EXPECT_EQ(sums, alone);
      const float largest = kernels.largest_distance(values.data(), offsets.data(), width);
      std::vector<std::int16_t> symbols(sums.size()), coarse(sums.size());
      kernels.quantise(values.data(), offsets.data(), 0.37F, width, symbols.data());
      kernels.coarsen(symbols.data(), width, 2, coarse.data());
      return std::tuple(products, sums, squares, largest, symbols, coarse);
    };
    const auto expected = all_of(Backend::kScalar);
    for (const Backend backend : available_backends())
      EXPECT_EQ(all_of(backend), expected) << width;
  }
}

TEST(SluiceKernels, EverySymbolGoesToItsNearestThird) {
  std::vector<std::int16_t> symbols, once, twice;
  for (int q = -32767; q <= 32767; ++q) {
    symbols.push_back(static_cast<std::int16_t>(q));
    once.push_back(static_cast<std::int16_t>(std::lround(q / 3.0)));
    twice.push_back(static_cast<std::int16_t>(std::lround(once.back() / 3.0)));
  }
  for (const Backend backend : available_backends()) {
    std::vector<std::int16_t> found(symbols.size());
    const ladder::Kernels& kernels = ladder::kernels_of(backend);
    kernels.coarsen(symbols.data(), std::ssize(symbols), 1, found.data());
    EXPECT_EQ(found, once);
    kernels.coarsen(symbols.data(), std::ssize(symbols), 2, found.data());
    EXPECT_EQ(found, twice);
  }
}

TEST(SluiceKernels, NoNumbersAndNumbersTooLargeHaveSymbols) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kLarge = 1e9F;
  const std::vector<float> values = {kNaN, kLarge, -kLarge, 2.5F, 3.5F, -0.5F, 1, kNaN, kLarge};
  const std::vector<float> offsets(values.size(), 0.0F);
  for (const Backend backend : available_backends()) {
    std::vector<std::int16_t> symbols(values.size());
    const ladder::Kernels& kernels = ladder::kernels_of(backend);
    kernels.quantise(values.data(), offsets.data(), 1, std::ssize(values), symbols.data());
    EXPECT_THAT(symbols, testing::ElementsAre(0, 32767, -32767, 2, 4, 0, 1, 0, 32767));
    EXPECT_EQ(kernels.largest_distance(values.data(), offsets.data(), std::ssize(values)), kLarge);
    EXPECT_EQ(kernels.largest_distance(values.data(), offsets.data(), 1), 0);
  }
}

TEST(SluiceRotation, UnitsThatTurnAlikeShareATable) {
  const RopeFacts rope{.theta = 10'000, .rotated_dims = 4, .pairing = RopePairing::kHalf};
  const std::int64_t all[] = {0, 1, 2, 3}, window[] = {2, 3};
  ladder::RotationTables tables(false);
  const auto first = tables.of(rope, all, Backend::kScalar);
  const auto second = tables.of(rope, window, Backend::kScalar);
  EXPECT_EQ(tables.of(rope, all, Backend::kScalar), first);
  EXPECT_EQ(tables.of(rope, window, Backend::kScalar), second);
  EXPECT_EQ(second->cosines.size(), 4U);
  EXPECT_EQ(first->cosines[4], second->cosines[0]);
  RopeFacts other = rope;
  other.attention_factor = 2;
  EXPECT_EQ(tables.of(other, all, Backend::kScalar)->cosines[0], 2 * first->cosines[0]);
}

}  // namespace
}  // namespace sluice
