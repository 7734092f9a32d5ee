// transform: the example of its specification, its parts, and what low rank is worth.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "codec/transform/allocation.h"
#include "codec/transform/principal.h"
#include "tests/codec/one_section.h"

namespace sluice {
namespace {

using transform::allocate;
using transform::Choice;
using transform::kNumChoices;

const std::vector<int> kExample{
    0x00, 0x42, 0x00, 0x42, 0x00, 0x42, 0x00, 0x42,  // the first token
    0x00, 0x00, 0x80, 0x3f,                          // scale
    0x01, 0x00, 0x00, 0x01, 0x00, 0x38, 0x00, 0x40,  // components, unit, weight
    0x04, 0x00, 0x01, 0x00, 0x10, 0x00, 0x00, 0x00, 0x0e, 0,    0,    0,  // 16 rows
    0x00, 0x00, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0x01, 0x01, 0x68, 0x06, 0x00,
    0x04, 0x00, 0x01, 0x00, 0x04, 0x00, 0x00, 0x00, 0x0e, 0,    0,    0,  // 4 channels
    0x00, 0x00, 0x00, 0xfe, 0xff, 0x00, 0x00, 0x00, 0x00, 0x01, 0x01, 0x68, 0x06, 0x00};
constexpr TensorShape kExampleShape{.dtype = Dtype::kFp16, .heads = 1, .tokens = 17, .dim = 4};

OwnedTensor example() {
  return OwnedTensor(kExampleShape, [](std::int64_t, std::int64_t token, std::int64_t) {
    return token == 0 ? 3.0F : 1.0F;
  });
}

TEST(Transform, IsTheExampleOfItsSpecification) {
  EXPECT_EQ(encoded_section("transform@bits-2", example().view()), to_bytes(kExample));
  OwnedTensor back(kExampleShape);
  ASSERT_TRUE(
      decode_section_into("transform@bits-2", to_bytes(kExample), back.mutable_view()).ok());
  EXPECT_EQ(back.memory(), example().memory());
}

TEST(Transform, RefusesWhatNoEncoderWrites) {
  const auto is_refused = [](std::size_t at, int byte) {
    std::vector<int> bytes = kExample;
    bytes[at] = byte;
    OwnedTensor back(kExampleShape);
    return !decode_section_into("transform@bits-2", to_bytes(bytes), back.mutable_view()).ok();
  };
  EXPECT_FALSE(is_refused(18, 1));    // another weight
  EXPECT_TRUE(is_refused(1, 0x7c));   // an infinite element
  EXPECT_TRUE(is_refused(11, 0xbf));  // a negative scale
  EXPECT_TRUE(is_refused(12, 5));     // five components of four channels
  EXPECT_TRUE(is_refused(17, 0xb8));  // a negative unit
}

TEST(Transform, AllZerosAreALittleHeaderAndPadding) {
  // 64 x 640 elements: at least 160 bytes, and nothing but zeros to say.
  const TensorShape shape{.dtype = Dtype::kBf16, .heads = 10, .tokens = 64, .dim = 64};
  const OwnedTensor zeros(shape);
  const auto payload = encoded_section("transform@bits-1", zeros.view());
  EXPECT_EQ(payload.size(), 10U * 64 * 2 + 4 + 2 + 4);  // first token, scale, no component
  OwnedTensor back(shape, [](std::int64_t, std::int64_t, std::int64_t) { return 1.0F; });
  ASSERT_TRUE(decode_section_into("transform@bits-1", payload, back.mutable_view()).ok());
  EXPECT_EQ(back.memory(), zeros.memory());
}

// A sum of `rank` outer products of normal vectors, each half as strong as the one before.
std::vector<float> low_rank(std::int64_t rows, std::int64_t columns, int rank) {
  RandomStream random(4);
  std::vector<float> matrix(static_cast<std::size_t>(rows * columns));
  for (int j = 0; j < rank; ++j) {
    std::vector<double> of_row, of_column;
    for (std::int64_t r = 0; r < rows; ++r) of_row.push_back(random.normal(0, 8.0 / (1 << j)));
    for (std::int64_t c = 0; c < columns; ++c) of_column.push_back(random.normal(0, 1));
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      matrix[i] += static_cast<float>(of_row[i / static_cast<std::size_t>(columns)] *
                                      of_column[i % static_cast<std::size_t>(columns)]);
    }
  }
  return matrix;
}

TEST(PrincipalComponents, OfALowRankMatrixRebuildItAndAreOrthonormal) {
  constexpr std::int64_t kRows = 60, kColumns = 37, kRank = 4;
  const auto matrix = low_rank(kRows, kColumns, kRank);
  for (const Backend backend : available_backends()) {
    const auto found = transform::principal_components(matrix, kRows, kColumns, 10,
                                                       transform::kernels_of(backend));
    ASSERT_GE(found.sizes.size(), 4U);
    EXPECT_TRUE(std::is_sorted(found.sizes.rbegin(), found.sizes.rend()));
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        const float* a = found.channels.data() + i * kColumns;
        const float* b = found.channels.data() + j * kColumns;
        EXPECT_NEAR(std::inner_product(a, a + kColumns, b, 0.0), i == j ? 1 : 0, 1e-4);
      }
    }
    for (std::size_t i = 0; i < matrix.size(); ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < found.sizes.size(); ++j) {
        sum += static_cast<double>(found.sizes[j]) *
               static_cast<double>(found.tokens[j * kRows + i / kColumns]) *
               static_cast<double>(found.channels[j * kColumns + i % kColumns]);
      }
      ASSERT_NEAR(sum, matrix[i], 1e-3);
    }
  }
}

// Two components that cost 10 bits per step and halve their error with each.
TEST(Allocation, GivesBitsWhereTheyRemoveMostError) {
  std::vector<Choice> choices;
  for (const double size : {16.0, 4.0}) {
    for (int b = 0; b < kNumChoices; ++b)
      choices.push_back({.bits = 10.0 * b, .error = std::ldexp(size, -b)});
  }
  // 16 and 4 become equal after two steps of the first; then both take turns.
  EXPECT_EQ(allocate(choices, 20.1), (std::vector<int>{2, 0}));
  EXPECT_EQ(allocate(choices, 40.1), (std::vector<int>{3, 1}));
  EXPECT_EQ(allocate(choices, 0), (std::vector<int>{0, 0}));
  EXPECT_EQ(allocate(choices, 1e6), (std::vector<int>{8, 8}));
}

TEST(Allocation, IsBetterThanTakingTheBestStepFirst) {
  // One component of 8 error at 60 bits, or two of 5 error each at 50 bits: with 100 bits both.
  std::vector<Choice> choices(3 * kNumChoices, Choice{.bits = 1e9, .error = 0});
  const double bits[] = {60, 50, 50}, errors[] = {8, 5, 5};
  for (std::size_t i = 0; i < 3; ++i) {
    choices[i * kNumChoices] = {.bits = 0, .error = errors[i]};
    choices[i * kNumChoices + 1] = {.bits = bits[i], .error = 0};
  }
  EXPECT_EQ(allocate(choices, 100.1), (std::vector<int>{0, 1, 1}));
}

double share_lost(const std::string& name, const OwnedTensor& tensor) {
  OwnedTensor back(tensor.view().shape);
  EXPECT_TRUE(
      decode_section_into(name, encoded_section(name, tensor.view()), back.mutable_view()).ok());
  const auto want = floats_of(tensor), got = floats_of(back);
  double lost = 0, power = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    lost += std::pow(static_cast<double>(got[i]) - static_cast<double>(want[i]), 2);
    power += std::pow(static_cast<double>(want[i]), 2);
  }
  return lost / power;
}

TEST(Transform, LowRankIsNearlyFreeAndNoiseIsNot) {
  // Rank 3 of 200 tokens and 96 channels: about 900 numbers for 19200 elements.
  const OwnedTensor of_low_rank = fp32_tensor(200, 96, low_rank(200, 96, 3));
  EXPECT_LT(share_lost("transform@bits-0.5", of_low_rank), 0.001);
  RandomStream random(8);
  std::vector<float> noise(200 * 96);
  for (float& x : noise) x = static_cast<float>(random.normal(0, 1));
  EXPECT_GT(share_lost("transform@bits-0.5", fp32_tensor(200, 96, noise)), 0.4);
}

TEST(Transform, MoreBitsLoseLessAndSizesAreNearTheirTarget) {
  auto matrix = low_rank(300, 128, 12);
  RandomStream random(9);
  for (float& x : matrix) x += static_cast<float>(random.normal(0, 2));
  const OwnedTensor tensor = fp32_tensor(300, 128, matrix);
  double before = 0;
  for (const auto& [level, target] :
       {std::pair("bits-2", 2.0), {"bits-1", 1.0}, {"bits-0.5", 0.5}, {"bits-0.25", 0.25}}) {
    const std::string name = std::string("transform@") + level;
    const double lost = share_lost(name, tensor);
    EXPECT_GT(lost, before);
    before = lost;
    const auto first_token = 32.0 * 128;
    const double bits = 8.0 * static_cast<double>(encoded_section(name, tensor.view()).size());
    // Besides: 24 lane states of 32 bits, two planes' headers, scale and weights.
    constexpr double kFixedBits = 1500, kElements = 299 * 128;
    EXPECT_GT(bits - first_token, 0.9 * target * kElements);
    EXPECT_LT(bits - first_token, 1.05 * target * kElements + kFixedBits);
  }
}

// Layers that read one stream share components: two copies cost little more than one.
TEST(Transform, ALayerLikeAnotherCostsLittle) {
  const auto matrix = low_rank(200, 64, 8);
  const OwnedTensor one = fp32_tensor(200, 64, matrix);
  const SectionTensor tensors[] = {{.layer = 0, .values = one.view()},
                                   {.layer = 1, .values = one.view()}};
  const Codec& codec = *find_codec("transform").value();
  const auto size_of = [&](std::size_t count) {
    return codec
        .encode_section({.level = 0, .num_model_layers = 2}, std::span(tensors).first(count))
        ->payload.size();
  };
  // Of twice the components' budget: the rows' symbols are not repeated, the channels' are.
  EXPECT_LT(size_of(2), size_of(1) * 3 / 2);
}

}  // namespace
}  // namespace sluice
