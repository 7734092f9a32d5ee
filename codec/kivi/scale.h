// How KIVI's groups are scaled: a zero point and a step, both fp16, that hold every value.
// Where in the flow: inside the encoder and the kernels; spec.md says the same in words.
#pragma once

#include <cstdint>

#include "codec/codable.h"
#include "codec/float16.h"
#include "codec/host_device.h"
#include "codec/uniform/scale.h"

namespace sluice::kivi {

// The largest fp16 that is not above x. |x| <= 65504.
[[nodiscard]] SLUICE_HOST_DEVICE inline std::uint16_t zero_for(float x) {
  const std::uint16_t nearest = fp32_to_fp16(x);
  if (fp16_to_fp32(nearest) <= x) return nearest;
  if ((nearest & 0x7FFFU) == 0) return 0x8001;  // just below zero
  return static_cast<std::uint16_t>((nearest & 0x8000U) != 0 ? nearest + 1 : nearest - 1);
}

// The smallest fp16 with scale * code_max >= range. 0 <= range <= 131072, code_max >= 3.
[[nodiscard]] SLUICE_HOST_DEVICE inline std::uint16_t scale_for(float range, float code_max) {
  const std::uint16_t nearest = fp32_to_fp16(range / code_max);
  const bool is_short = fp16_to_fp32(nearest) * code_max < range;  // the product is exact
  return static_cast<std::uint16_t>(nearest + (is_short ? 1 : 0));
}

[[nodiscard]] SLUICE_HOST_DEVICE inline float code_of(float value, float scale, float zero,
                                                      float code_max) {
  if (scale == 0.0F) return 0.0F;
  const float code = uniform::round_half_even((value - zero) / scale);
  return code < 0.0F ? 0.0F : code > code_max ? code_max : code;
}

// The product is exact, the sum rounded once; it can pass the largest fp16 by part of a step.
[[nodiscard]] SLUICE_HOST_DEVICE inline float value_of(float code, float scale, float zero) {
  const float value = zero + code * scale;
  return value > kMaxCodable ? kMaxCodable : value;
}

// Zero points that an encoder can have written: finite.
[[nodiscard]] SLUICE_HOST_DEVICE inline bool is_valid_zero(std::uint16_t fp16) {
  return (fp16 & 0x7C00U) != 0x7C00U;
}

}  // namespace sluice::kivi
