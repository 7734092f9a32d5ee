// The encoding loops that int8 and int4 share, with AVX2; the scalar forms are in scale.h.
// Where in the flow: inside avx2 sources only.
// Surprise: everything is static, for the reason told in codec/avx2_floats.h.
#pragma once

#include <cstdint>
#include <cstring>

#include "codec/avx2_floats.h"

namespace sluice::uniform::avx2 {

// The largest |value|; 0 without values.
static inline float max_magnitude(const float* values, std::int64_t num_values) {
  const __m256 sign = _mm256_set1_ps(-0.0F);
  __m256 largest = _mm256_setzero_ps();
  std::int64_t i = 0;
  for (; i + 8 <= num_values; i += 8)
    largest = _mm256_max_ps(largest, _mm256_andnot_ps(sign, _mm256_loadu_ps(values + i)));
  __m256 last = _mm256_setzero_ps();
  std::memcpy(&last, values + i, static_cast<std::size_t>(num_values - i) * sizeof(float));
  largest = _mm256_max_ps(largest, _mm256_andnot_ps(sign, last));
  __m128 four = _mm_max_ps(_mm256_castps256_ps128(largest), _mm256_extractf128_ps(largest, 1));
  four = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(four, _mm_shuffle_ps(four, four, 1)));
}

// As scale_of() of scale.h, from the group's largest magnitude.
static inline std::uint16_t scale_of(float magnitude, float code_max) {
  const __m128i halves = _mm_cvtps_ph(_mm_set_ss(magnitude / code_max), _MM_FROUND_TO_NEAREST_INT);
  const auto nearest = static_cast<std::uint16_t>(_mm_extract_epi16(halves, 0));
  const bool is_short = _cvtsh_ss(nearest) * code_max < magnitude;
  const auto scale = static_cast<std::uint16_t>(nearest + (is_short ? 1 : 0));
  constexpr float kFp16Overflow = 65520.0F;
  const bool overflows = _cvtsh_ss(scale) * code_max >= kFp16Overflow;
  return static_cast<std::uint16_t>(scale - (overflows ? 1 : 0));
}

// 8 values to integers: fp32 quotients, to nearest, ties to even.
static inline __m256i codes8(const float* values, __m256 scale) {
  return _mm256_cvtps_epi32(_mm256_div_ps(_mm256_loadu_ps(values), scale));
}

// 32 values to 32 signed bytes, in order. scale > 0 and |value / scale| < 128.
static inline __m256i codes32(const float* values, __m256 scale) {
  const __m256i low = _mm256_packs_epi32(codes8(values, scale), codes8(values + 8, scale));
  const __m256i high = _mm256_packs_epi32(codes8(values + 16, scale), codes8(values + 24, scale));
  // Packing works within 128-bit halves; this puts each group of four bytes back in its place.
  return _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high),
                                     _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

// store(first value, address of kBlock values) for whole blocks; the last ones followed by zeros.
template <std::int64_t kBlock, typename Store>
static inline void for_each_block(const float* values, std::int64_t num_values, Store store) {
  std::int64_t i = 0;
  for (; i + kBlock <= num_values; i += kBlock) store(i, values + i, kBlock);
  if (i == num_values) return;
  float last[kBlock] = {};
  std::memcpy(last, values + i, static_cast<std::size_t>(num_values - i) * sizeof(float));
  store(i, last, num_values - i);
}

}  // namespace sluice::uniform::avx2
