#include "codec/row_convert_avx2.h"

#include <cstring>

#include "codec/avx2_floats.h"

namespace sluice::avx2 {
namespace {

constexpr std::int64_t kLanes = 8;
constexpr std::int64_t kHalfBytes = 2;

// Eight at a time; the last few through a full vector on the stack.
template <typename Convert>
void widen(const std::byte* row, std::int64_t num_elems, float* values, Convert convert) {
  std::int64_t i = 0;
  for (; i + kLanes <= num_elems; i += kLanes) {
    const auto* from = reinterpret_cast<const __m128i*>(row + i * kHalfBytes);
    _mm256_storeu_ps(values + i, convert(_mm_loadu_si128(from)));
  }
  if (i == num_elems) return;
  __m128i last = _mm_setzero_si128();
  std::memcpy(&last, row + i * kHalfBytes, static_cast<std::size_t>((num_elems - i) * kHalfBytes));
  const __m256 converted = convert(last);
  std::memcpy(values + i, &converted, static_cast<std::size_t>(num_elems - i) * sizeof(float));
}

template <typename Convert>
void narrow(const float* values, std::int64_t num_elems, std::byte* row, Convert convert) {
  std::int64_t i = 0;
  for (; i + kLanes <= num_elems; i += kLanes) {
    auto* to = reinterpret_cast<__m128i*>(row + i * kHalfBytes);
    _mm_storeu_si128(to, convert(_mm256_loadu_ps(values + i)));
  }
  if (i == num_elems) return;
  __m256 last = _mm256_setzero_ps();
  std::memcpy(&last, values + i, static_cast<std::size_t>(num_elems - i) * sizeof(float));
  const __m128i converted = convert(last);
  std::memcpy(row + i * kHalfBytes, &converted,
              static_cast<std::size_t>((num_elems - i) * kHalfBytes));
}

__m256 codable(__m256 x) {
  const __m256 limit = _mm256_set1_ps(65504.0F);
  const __m256 number = _mm256_and_ps(x, _mm256_cmp_ps(x, x, _CMP_ORD_Q));  // NaN to 0
  return _mm256_max_ps(_mm256_min_ps(number, limit), _mm256_sub_ps(_mm256_setzero_ps(), limit));
}

}  // namespace

void fp16_to_fp32(const std::byte* row, std::int64_t num_elems, float* values) {
  widen(row, num_elems, values, [](__m128i halves) { return fp16_to_fp32(halves); });
}

void fp32_to_fp16(const float* values, std::int64_t num_elems, std::byte* row) {
  narrow(values, num_elems, row, [](__m256 floats) { return fp32_to_fp16(floats); });
}

void bf16_to_fp32(const std::byte* row, std::int64_t num_elems, float* values) {
  widen(row, num_elems, values, [](__m128i halves) { return bf16_to_fp32(halves); });
}

void fp32_to_bf16(const float* values, std::int64_t num_elems, std::byte* row) {
  narrow(values, num_elems, row, [](__m256 floats) { return fp32_to_bf16(floats); });
}

void make_codable(float* values, std::int64_t num_elems) {
  std::int64_t i = 0;
  for (; i + kLanes <= num_elems; i += kLanes)
    _mm256_storeu_ps(values + i, codable(_mm256_loadu_ps(values + i)));
  if (i == num_elems) return;
  __m256 last = _mm256_setzero_ps();
  const auto bytes = static_cast<std::size_t>(num_elems - i) * sizeof(float);
  std::memcpy(&last, values + i, bytes);
  last = codable(last);
  std::memcpy(values + i, &last, bytes);
}

}  // namespace sluice::avx2
