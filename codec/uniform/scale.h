// The quantiser that int8 and int4 share: symmetric, uniform, one fp16 scale per group of channels.
// Where in the flow: inside their kernels; the rules in words are in codec/int8/spec.md.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

#include "codec/float16.h"
#include "codec/host_device.h"

namespace sluice::uniform {

// To the nearest integer, ties to even. |x| < 2^22; without a call, so that loops vectorise.
[[nodiscard]] SLUICE_HOST_DEVICE inline float round_half_even(float x) {
  constexpr float kShift = 0x1.8p23F;
  return (x + kShift) - kShift;
}

// From here on a number rounds to infinity in fp16.
inline constexpr float kFp16Overflow = 65520.0F;

// The smallest fp16 with scale * code_max >= magnitude, the largest |value| of a group; one step
// less where that product would become infinite in fp16. Values are codable() (finite, at most
// 65504).
[[nodiscard]] SLUICE_HOST_DEVICE inline std::uint16_t scale_for(float magnitude, float code_max) {
  const std::uint16_t nearest = fp32_to_fp16(magnitude / code_max);
  const bool is_short =
      fp16_to_fp32(nearest) * code_max < magnitude;  // the product is exact: 11 + 7 bits
  const auto scale = static_cast<std::uint16_t>(nearest + (is_short ? 1 : 0));
  const bool overflows = fp16_to_fp32(scale) * code_max >= kFp16Overflow;
  return static_cast<std::uint16_t>(scale - (overflows ? 1 : 0));
}
[[nodiscard]] inline std::uint16_t scale_of(std::span<const float> values, float code_max) {
  float magnitude = 0.0F;
  for (const float value : values)
    magnitude = std::fabs(value) > magnitude ? std::fabs(value) : magnitude;
  return scale_for(magnitude, code_max);
}

// The code of one value; |code| <= code_max because scale_for() rounds up, or down by less than
// half a code. A zero scale codes zeros.
[[nodiscard]] SLUICE_HOST_DEVICE inline float code_of(float value, float scale) {
  return scale == 0.0F ? 0.0F : round_half_even(value / scale);
}

// A scale that an encoder can have written: finite, not negative.
[[nodiscard]] SLUICE_HOST_DEVICE inline bool is_valid_scale(std::uint16_t fp16) {
  return fp16 < 0x7C00U;
}

}  // namespace sluice::uniform
