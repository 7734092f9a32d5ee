// Eight floats to and from fp16 and bf16 with AVX2 and F16C, to the bit as codec/float16.h.
// Where in the flow: inside avx2 sources only.
// Surprise: everything is static. An inline function with outside linkage, compiled here for AVX2,
// could be the copy that the linker keeps for the whole program.
#pragma once

#include <immintrin.h>

namespace sluice::avx2 {

// fp16 bits to fp32. _mm256_cvtph_ps alone would turn signalling NaNs into quiet ones.
static inline __m256 fp16_to_fp32(__m128i halves) {
  const __m128i exponent = _mm_set1_epi16(0x7C00);
  const __m128i is_special = _mm_cmpeq_epi16(_mm_and_si128(halves, exponent), exponent);
  const __m256 converted = _mm256_cvtph_ps(halves);
  if (_mm_testz_si128(is_special, is_special) != 0) return converted;
  const __m256i wide = _mm256_cvtepu16_epi32(halves);
  const __m256i sign = _mm256_slli_epi32(_mm256_and_si256(wide, _mm256_set1_epi32(0x8000)), 16);
  const __m256i mantissa = _mm256_slli_epi32(_mm256_and_si256(wide, _mm256_set1_epi32(0x3FF)), 13);
  const __m256i special =
      _mm256_or_si256(_mm256_or_si256(sign, mantissa), _mm256_set1_epi32(0x7F800000));
  return _mm256_blendv_ps(converted, _mm256_castsi256_ps(special),
                          _mm256_castsi256_ps(_mm256_cvtepi16_epi32(is_special)));
}

static inline __m128i fp32_to_fp16(__m256 values) {
  return _mm256_cvtps_ph(values, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline __m256 bf16_to_fp32(__m128i halves) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
}

// bf16 bits of finite numbers and infinities, in the low halves of 32-bit lanes.
static inline __m256i rounded_to_bf16(__m256i bits) {
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i half = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7FFF));
  return _mm256_srli_epi32(_mm256_add_epi32(bits, half), 16);
}

static inline __m128i narrowed(__m256i wide) {  // 8 lanes below 2^16 to 8 x 16 bits
  return _mm_packus_epi32(_mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
}

static inline __m128i fp32_to_bf16(__m256 values) {
  const __m256i bits = _mm256_castps_si256(values);
  const __m256i quiet = _mm256_or_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(0x40));
  const __m256i is_nan = _mm256_castps_si256(_mm256_cmp_ps(values, values, _CMP_UNORD_Q));
  return narrowed(_mm256_blendv_epi8(rounded_to_bf16(bits), quiet, is_nan));
}

}  // namespace sluice::avx2
