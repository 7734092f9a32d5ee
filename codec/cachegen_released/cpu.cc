#include <algorithm>
#include <cmath>

#include "codec/cachegen_released/kernel.h"
#include "codec/cachegen_released/symbol_rule.h"

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
  const float ratio = static_cast<float>(max_symbol) / fp16_to_fp32(scale);
  for (std::size_t c = 0; c < channels.size(); ++c)
    symbols[c] = symbol_of(channels[c], ratio, max_symbol);
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
