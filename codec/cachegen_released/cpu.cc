#include <algorithm>
#include <cmath>

#include "codec/cachegen_released/kernel.h"
#include "codec/uniform/scale.h"

namespace sluice::cachegen_released {

std::uint16_t quantise_token(std::span<const float> channels, std::int32_t max_symbol,
                             std::span<std::int16_t> symbols) {
  float magnitude = 0.0F;
  for (const float x : channels) magnitude = std::fabs(x) > magnitude ? std::fabs(x) : magnitude;
  const std::uint16_t scale = fp32_to_fp16(magnitude);
  if (scale == 0) {
    std::fill(symbols.begin(), symbols.end(), std::int16_t{0});
    return scale;
  }
  const auto limit = static_cast<float>(max_symbol);
  const float ratio = limit / fp16_to_fp32(scale);
  for (std::size_t c = 0; c < channels.size(); ++c) {
    // Only a scale that is subnormal in fp16 can be short enough for the limits to matter.
    const float symbol = uniform::round_half_even(channels[c] * ratio);
    symbols[c] = static_cast<std::int16_t>(symbol > limit    ? limit
                                           : symbol < -limit ? -limit
                                                             : symbol);
  }
  return scale;
}

void dequantise_token(std::span<const std::int16_t> symbols, std::int32_t max_symbol,
                      std::uint16_t scale, std::span<float> channels) {
  const float step = fp16_to_fp32(scale) / static_cast<float>(max_symbol);
  for (std::size_t c = 0; c < symbols.size(); ++c) {
    channels[c] = static_cast<float>(symbols[c]) * step;
  }
}

}  // namespace sluice::cachegen_released
