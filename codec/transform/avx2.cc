// transform's loops with AVX2; cpu.cc is their oracle.
// Surprise: products of floats are tiled over rows and columns, never over the sum, so that each
// element adds up in the order of the scalar code.
#include <immintrin.h>

#include <cstring>

#include "codec/transform/kernel.h"

namespace sluice::transform {
namespace {

constexpr std::int64_t kLanes = 8;
constexpr std::int64_t kRows = 4;  // rows or tokens whose sums share a load of the other factor

// kTileRows rows from a and 16 columns of b.
template <std::int64_t kTileRows>
void multiply_tile(const float* a, const float* b, std::int64_t inner, std::int64_t columns,
                   float* c) {
  __m256 sums[kTileRows][2];
  for (auto& row : sums) row[0] = row[1] = _mm256_setzero_ps();
  for (std::int64_t j = 0; j < inner; ++j) {
    const __m256 low = _mm256_loadu_ps(b + j * columns);
    const __m256 high = _mm256_loadu_ps(b + j * columns + kLanes);
    for (std::int64_t i = 0; i < kTileRows; ++i) {
      const __m256 factor = _mm256_broadcast_ss(a + i * inner + j);
      sums[i][0] = _mm256_add_ps(sums[i][0], _mm256_mul_ps(factor, low));
      sums[i][1] = _mm256_add_ps(sums[i][1], _mm256_mul_ps(factor, high));
    }
  }
  for (std::int64_t i = 0; i < kTileRows; ++i) {
    _mm256_storeu_ps(c + i * columns, sums[i][0]);
    _mm256_storeu_ps(c + i * columns + kLanes, sums[i][1]);
  }
}

// The last columns, fewer than 16.
void multiply_rest(const float* a, const float* b, std::int64_t rows, std::int64_t inner,
                   std::int64_t columns, std::int64_t first, float* c) {
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = first; k < columns; ++k) {
      float sum = 0;
      for (std::int64_t j = 0; j < inner; ++j) sum += a[i * inner + j] * b[j * columns + k];
      c[i * columns + k] = sum;
    }
  }
}

void multiply(const float* a, const float* b, std::int64_t rows, std::int64_t inner,
              std::int64_t columns, float* c) {
  std::int64_t k = 0;
  for (; k + 2 * kLanes <= columns; k += 2 * kLanes) {
    std::int64_t i = 0;
    for (; i + kRows <= rows; i += kRows)
      multiply_tile<kRows>(a + i * inner, b + k, inner, columns, c + i * columns + k);
    for (; i < rows; ++i)
      multiply_tile<1>(a + i * inner, b + k, inner, columns, c + i * columns + k);
  }
  multiply_rest(a, b, rows, inner, columns, k, c);
}

// kTokens tokens and eight channels.
template <std::int64_t kTokens>
void synthesise_tile(const std::int16_t* symbols, const std::int16_t* basis, std::int64_t pairs,
                     std::int64_t channels, std::int32_t* sums) {
  __m256i totals[kTokens];
  for (__m256i& total : totals) total = _mm256_setzero_si256();
  for (std::int64_t i = 0; i < pairs; ++i) {
    const __m256i row =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(basis + i * channels * 2));
    for (std::int64_t t = 0; t < kTokens; ++t) {
      std::int32_t pair = 0;
      std::memcpy(&pair, symbols + (t * pairs + i) * 2, sizeof pair);
      totals[t] = _mm256_add_epi32(totals[t], _mm256_madd_epi16(_mm256_set1_epi32(pair), row));
    }
  }
  for (std::int64_t t = 0; t < kTokens; ++t)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + t * channels), totals[t]);
}

// The last channels, fewer than eight.
void synthesise_rest(const std::int16_t* symbols, const std::int16_t* basis, std::int64_t tokens,
                     std::int64_t pairs, std::int64_t channels, std::int64_t first,
                     std::int32_t* sums) {
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t c = first; c < channels; ++c) {
      std::uint32_t sum = 0;
      for (std::int64_t i = 0; i < 2 * pairs; ++i) {
        const std::int32_t product =
            std::int32_t{symbols[t * pairs * 2 + i]} * basis[(i / 2 * channels + c) * 2 + i % 2];
        sum += static_cast<std::uint32_t>(product);
      }
      sums[t * channels + c] = static_cast<std::int32_t>(sum);
    }
  }
}

void synthesise(const std::int16_t* symbols, const std::int16_t* basis, std::int64_t tokens,
                std::int64_t pairs, std::int64_t channels, std::int32_t* sums) {
  std::int64_t c = 0;
  for (; c + kLanes <= channels; c += kLanes) {
    std::int64_t t = 0;
    for (; t + kRows <= tokens; t += kRows)
      synthesise_tile<kRows>(symbols + t * pairs * 2, basis + c * 2, pairs, channels,
                             sums + t * channels + c);
    for (; t < tokens; ++t)
      synthesise_tile<1>(symbols + t * pairs * 2, basis + c * 2, pairs, channels,
                         sums + t * channels + c);
  }
  synthesise_rest(symbols, basis, tokens, pairs, channels, c, sums);
}

}  // namespace

const Kernels kAvx2Kernels{.multiply = multiply, .synthesise = synthesise};

}  // namespace sluice::transform
