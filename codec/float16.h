// fp16 (IEEE 754 binary16) and bf16 to fp32 and back, by integers: the same bits on every host.
// Where in the flow: under every codec and under TensorView. Rounding is to nearest, ties to even;
// NaN stays NaN.
#pragma once

#include <bit>
#include <cstdint>

#include "codec/host_device.h"

namespace sluice {

[[nodiscard]] SLUICE_HOST_DEVICE constexpr float fp16_to_fp32(std::uint16_t half) {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1FU;
  const std::uint32_t mantissa = half & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | mantissa << 13);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;  // zero and subnormals, exact
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::uint16_t fp32_to_fp16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U)
    return static_cast<std::uint16_t>(sign | 0x7E00U | (magnitude >> 13 & 0x3FFU));
  if (magnitude >= 0x477FF000U)
    return static_cast<std::uint16_t>(sign | 0x7C00U);  // rounds to infinity from 65520 on
  if (magnitude < 0x38800000U) {
    // Below 2^-14: adding 0.5 lines the fp16 subnormal unit 2^-24 up with the last bit of an fp32
    // mantissa.
    const float aligned = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(aligned) - 0x3F000000U));
  }
  const std::uint32_t odd = magnitude >> 13 & 1U;
  return static_cast<std::uint16_t>(sign | ((magnitude - 0x38000000U + 0xFFFU + odd) >> 13));
}

[[nodiscard]] SLUICE_HOST_DEVICE constexpr float bf16_to_fp32(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16);
}

[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::uint16_t fp32_to_bf16(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U)
    return static_cast<std::uint16_t>(bits >> 16 | 0x40U);  // keep it a NaN
  return static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

}  // namespace sluice
