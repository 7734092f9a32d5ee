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

QuantiseToken quantise_token_of(Backend backend) {
#if SLUICE_AVX2
  if (backend == Backend::kAvx2) return quantise_token_avx2;
#endif
  (void)backend;
  return [](const float* channels, std::int64_t num_channels, std::int32_t max_symbol,
            std::int16_t* symbols) {
    const auto count = static_cast<std::size_t>(num_channels);
    return quantise_token({channels, count}, max_symbol, {symbols, count});
  };
}

}  // namespace sluice::cachegen_released
