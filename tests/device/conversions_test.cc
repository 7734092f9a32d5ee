// The device's own conversions to and from 16 bits are those of codec/float16.h: on a GPU they are
// instructions, and every codec's last step.
#include "tests/device/conversions.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "base/random.h"
#include "codec/device/gpu.h"
#include "codec/float16.h"

namespace sluice {
namespace {

class Conversions : public testing::TestWithParam<Dtype> {
 protected:
  void SetUp() override {
    if (const auto gpu = find_gpu(); !gpu) GTEST_SKIP() << gpu.error().to_line();
  }
  static float widened(std::uint16_t bits) {
    return GetParam() == Dtype::kFp16 ? fp16_to_fp32(bits) : bf16_to_fp32(bits);
  }
  static std::uint16_t rounded(float value) {
    return GetParam() == Dtype::kFp16 ? fp32_to_fp16(value) : fp32_to_bf16(value);
  }
};

TEST_P(Conversions, WidenAllSixteenBitNumbersExactly) {
  std::vector<std::uint16_t> all(65536);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint16_t>(i);
  const auto result = widen_on_device(GetParam(), all);
  ASSERT_TRUE(result) << result.error().to_line();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const float expected = widened(all[i]);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan((*result)[i]));  // encoders take any NaN for 0
    } else {
      ASSERT_EQ(std::bit_cast<std::uint32_t>((*result)[i]), std::bit_cast<std::uint32_t>(expected));
    }
  }
}

// Halfway cases, their neighbours, subnormals, what overflows, and numbers at random. Decoders
// round no NaN.
TEST_P(Conversions, RoundToNearestWithTiesToEven) {
  std::vector<float> values;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const float value = widened(static_cast<std::uint16_t>(bits));
    const float next = widened(static_cast<std::uint16_t>(bits + 1));
    if (!std::isfinite(value)) continue;
    values.push_back(value);
    if (!std::isfinite(next)) continue;
    const float middle = value / 2 + next / 2;
    values.insert(values.end(),
                  {middle, std::nextafter(middle, value), std::nextafter(middle, next)});
  }
  RandomStream random(3);
  for (int i = 0; i < 100'000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next_u64()));
    if (!std::isnan(value)) values.push_back(value);
  }
  const auto result = round_on_device(GetParam(), values);
  ASSERT_TRUE(result) << result.error().to_line();
  for (std::size_t i = 0; i < values.size(); ++i)
    ASSERT_EQ((*result)[i], rounded(values[i])) << values[i];
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Conversions, testing::Values(Dtype::kFp16, Dtype::kBf16),
                         [](const auto& dtype) { return std::string(to_text(dtype.param)); });

}  // namespace
}  // namespace sluice
