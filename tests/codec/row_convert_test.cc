// Rows to fp32 and back: every backend gives the bits of codec/float16.h, for every 16-bit pattern
// and around every rounding boundary, and touches nothing outside the row.
#include "codec/row_convert.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "codec/codec.h"
#include "codec/float16.h"
#include "codec/tensor_view.h"

namespace sluice {
namespace {

std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

float widened(Dtype dtype, std::uint16_t half) {
  return dtype == Dtype::kFp16 ? fp16_to_fp32(half) : bf16_to_fp32(half);
}

std::uint16_t narrowed(Dtype dtype, float value) {
  return dtype == Dtype::kFp16 ? fp32_to_fp16(value) : fp32_to_bf16(value);
}

std::vector<std::uint16_t> every_pattern() {
  std::vector<std::uint16_t> patterns;
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits)
    patterns.push_back(static_cast<std::uint16_t>(bits));
  return patterns;
}

// Each number of the dtype, the middle between it and the next, and the fp32 neighbours of both:
// where rounding to nearest, ties to even, can go wrong. Then NaNs and what lies beyond fp16.
std::vector<float> rounding_boundaries(Dtype dtype) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> values;
  const auto add_with_neighbours = [&](float value) {
    for (const float x :
         {value, std::nextafter(value, kInfinity), std::nextafter(value, -kInfinity)})
      values.push_back(x);
  };
  for (const std::uint16_t half : every_pattern()) {
    const float value = widened(dtype, half);
    if (!std::isfinite(value)) continue;
    add_with_neighbours(value);
    const float next = widened(dtype, static_cast<std::uint16_t>(half + 1));
    if (std::isfinite(next)) add_with_neighbours(value + (next - value) / 2);
  }
  for (const float value : {65519.9F, 65520.0F, 1e30F, std::numeric_limits<float>::max(), kInfinity,
                            0x1p-149F, 0x1.fffffep-127F}) {
    values.push_back(value);
    values.push_back(-value);
  }
  for (const std::uint32_t nan : {0x7F800001U, 0x7FC00000U, 0x7FFFFFFFU, 0xFF802000U, 0xFFFFE001U})
    values.push_back(std::bit_cast<float>(nan));
  return values;
}

class RowConvertOf : public testing::TestWithParam<std::tuple<Dtype, Backend>> {
 protected:
  [[nodiscard]] static Dtype dtype() { return std::get<0>(GetParam()); }
  [[nodiscard]] static RowConvert convert() {
    return row_convert(dtype(), std::get<1>(GetParam()));
  }
};

TEST_P(RowConvertOf, ReadsAll65536PatternsExactlyNanPayloadsIncluded) {
  const auto patterns = every_pattern();
  std::vector<float> values(patterns.size());
  convert().to_fp32(reinterpret_cast<const std::byte*>(patterns.data()), 65536, values.data());
  for (std::size_t i = 0; i < patterns.size(); ++i)
    ASSERT_EQ(bits_of(values[i]), bits_of(widened(dtype(), patterns[i]))) << patterns[i];
}

TEST_P(RowConvertOf, RoundsEveryBoundaryToNearestAndTiesToEven) {
  const auto values = rounding_boundaries(dtype());
  ASSERT_GT(values.size(), 300'000U);
  std::vector<std::uint16_t> halves(values.size());
  convert().from_fp32(values.data(), static_cast<std::int64_t>(values.size()),
                      reinterpret_cast<std::byte*>(halves.data()));
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ(halves[i], narrowed(dtype(), values[i])) << std::hexfloat << values[i];
}

TEST_P(RowConvertOf, ARowOfAnyLengthAtAnyAddressWritesItselfAlone) {
  constexpr std::size_t kMax = 40;
  for (std::size_t length = 0; length <= kMax; ++length) {
    SCOPED_TRACE(length);
    std::vector<std::byte> row(1 + 2 * kMax + 8, std::byte{0x5A});  // odd address: after one byte
    std::vector<float> values(kMax + 8, -7.0F);
    for (std::size_t i = 0; i < length; ++i) values[i] = static_cast<float>(i) + 0.5F;
    convert().from_fp32(values.data(), static_cast<std::int64_t>(length), row.data() + 1);
    for (std::size_t i = 1 + 2 * length; i < row.size(); ++i) ASSERT_EQ(row[i], std::byte{0x5A});
    std::vector<float> back(kMax + 8, -9.0F);
    convert().to_fp32(row.data() + 1, static_cast<std::int64_t>(length), back.data());
    for (std::size_t i = 0; i < back.size(); ++i)
      ASSERT_EQ(back[i], i < length ? static_cast<float>(i) + 0.5F : -9.0F);
  }
}

std::string name_of(const testing::TestParamInfo<std::tuple<Dtype, Backend>>& param) {
  const auto& [dtype, backend] = param.param;
  return std::string(to_text(dtype)) + "_" + std::string(to_text(backend));
}

INSTANTIATE_TEST_SUITE_P(Backends, RowConvertOf,
                         testing::Combine(testing::Values(Dtype::kFp16, Dtype::kBf16),
                                          testing::ValuesIn(available_backends())),
                         name_of);

TEST(MakeCodable, IsCodableOfEveryValueOnEveryBackend) {
  auto values = rounding_boundaries(Dtype::kFp16);
  values.resize(values.size() / 8 * 8 + 3);  // the last ones do not fill a vector
  for (const Backend backend : available_backends()) {
    std::vector<float> made = values;
    make_codable(made, backend);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(bits_of(made[i]), bits_of(codable(values[i]))) << std::hexfloat << values[i];
  }
}

TEST(TensorView, TokensReadAndWriteTheSameWhetherDimsLieSideBySideOrNot) {
  const TensorShape shape{.dtype = Dtype::kFp16, .heads = 2, .tokens = 3, .dim = 21};
  const Strides apart{.head = 63, .token = 1, .dim = 3};  // [head, dim, token]
  for (const Backend backend : available_backends()) {
    std::vector<std::uint16_t> side_by_side(126), spread(126);
    const MutableTensorView a{shape, reinterpret_cast<std::byte*>(side_by_side.data()),
                              head_major(shape)};
    const MutableTensorView b{shape, reinterpret_cast<std::byte*>(spread.data()), apart};
    std::vector<float> channels(42), from_a(42), from_b(42);
    for (std::int64_t token = 0; token < 3; ++token) {
      for (std::size_t c = 0; c < 42; ++c)
        channels[c] = static_cast<float>(c) + 100 * static_cast<float>(token);
      a.write_token(token, channels, backend);
      b.write_token(token, channels, backend);
      a.view().read_token(token, from_a, backend);
      b.view().read_token(token, from_b, backend);
      EXPECT_EQ(from_a, channels);
      EXPECT_EQ(from_b, channels);
    }
    EXPECT_EQ(b.view().at(1, 2, 20), 241);  // channel 41 of token 2
    EXPECT_EQ(a.view().at(1, 2, 20), 241);
  }
}

}  // namespace
}  // namespace sluice
