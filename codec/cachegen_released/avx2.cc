// Quantising a token with AVX2; the scalar form is in cpu.cc.
#include <cstring>

#include "codec/cachegen_released/kernel.h"
#include "codec/uniform/avx2_quantise.h"

namespace sluice::cachegen_released {
namespace {

// Sixteen channels to symbols. Rounding to nearest even by the instruction is round_half_even() for
// everything below 2^22; a product beyond it is limited to max_symbol by both.
__m256i symbols16(const float* channels, __m256 ratio, __m256 limit) {
  const auto eight = [&](const float* at) {
    const __m256 product = _mm256_mul_ps(_mm256_loadu_ps(at), ratio);
    const __m256 limited =
        _mm256_max_ps(_mm256_min_ps(product, limit), _mm256_sub_ps(_mm256_setzero_ps(), limit));
    return _mm256_cvtps_epi32(limited);
  };
  return _mm256_permute4x64_epi64(_mm256_packs_epi32(eight(channels), eight(channels + 8)), 0xD8);
}

}  // namespace

std::uint16_t quantise_token_avx2(const float* channels, std::int64_t num_channels,
                                  std::int32_t max_symbol, std::int16_t* symbols) {
  const float magnitude = uniform::avx2::max_magnitude(channels, num_channels);
  const auto scale = static_cast<std::uint16_t>(_cvtss_sh(magnitude, _MM_FROUND_TO_NEAREST_INT));
  if (scale == 0) {
    std::memset(symbols, 0, static_cast<std::size_t>(num_channels) * sizeof *symbols);
    return scale;
  }
  const auto limit = static_cast<float>(max_symbol);
  const __m256 ratio = _mm256_set1_ps(limit / _cvtsh_ss(scale));
  const __m256 limits = _mm256_set1_ps(limit);
  std::int64_t i = 0;
  for (; i + 16 <= num_channels; i += 16) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(symbols + i),
                        symbols16(channels + i, ratio, limits));
  }
  float rest[16]{};
  std::int16_t rest_symbols[16];
  const auto left = static_cast<std::size_t>(num_channels - i);
  std::memcpy(rest, channels + i, left * sizeof *rest);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(rest_symbols), symbols16(rest, ratio, limits));
  std::memcpy(symbols + i, rest_symbols, left * sizeof *symbols);
  return scale;
}

}  // namespace sluice::cachegen_released
