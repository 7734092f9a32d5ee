// The loops of `sluice` by themselves: the same numbers on every backend and width, at the ends of
// their ranges too.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/random.h"
#include "codec/codable.h"
#include "codec/sluice/kernel.h"
#include "codec/sluice/rotation.h"
#include "codec/sluice/rungs.h"

namespace sluice {
namespace {

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
