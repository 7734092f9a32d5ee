// Encoders' loops, and rotation alone; eight channels at a time, tails and odd pairings as in
// cpu.cc, one by one.
#include <immintrin.h>

#include "codec/sluice/avx2_decode.h"

namespace sluice::ladder {
namespace {

constexpr std::int64_t kStep = 8;

// Pairs whose members lie `distance` >= 8 apart and side by side; returns how many were turned.
template <bool kIsBack>
static std::int64_t rotate_eights(const float* cosines, const float* sines, std::int64_t pairs,
                                  const Pairing& pairing, float* head) {
  if (pairing.step != 1 || pairing.distance < kStep) return 0;
  std::int64_t i = 0;
  for (; i + kStep <= pairs; i += kStep) {
    float* const first = head + pairing.first + i;
    float* const second = first + pairing.distance;
    const __m256 a = _mm256_loadu_ps(first), b = _mm256_loadu_ps(second);
    const __m256 c = _mm256_loadu_ps(cosines + i), s = _mm256_loadu_ps(sines + i);
    const __m256 ac = _mm256_mul_ps(a, c), bs = _mm256_mul_ps(b, s);
    const __m256 bc = _mm256_mul_ps(b, c), as = _mm256_mul_ps(a, s);
    _mm256_storeu_ps(first, kIsBack ? _mm256_add_ps(ac, bs) : _mm256_sub_ps(ac, bs));
    _mm256_storeu_ps(second, kIsBack ? _mm256_sub_ps(bc, as) : _mm256_add_ps(bc, as));
  }
  return i;
}

void rotate(const float* cosines, const float* sines, std::int64_t pairs, const Pairing& pairing,
            float* head) {
  const std::int64_t done = rotate_eights<false>(cosines, sines, pairs, pairing, head);
  kScalarKernels.rotate(cosines + done, sines + done, pairs - done, pairing,
                        head + done * pairing.step);
}

void rotate_back(const float* cosines, const float* sines, std::int64_t pairs,
                 const Pairing& pairing, float* head) {
  const std::int64_t done = rotate_eights<true>(cosines, sines, pairs, pairing, head);
  kScalarKernels.rotate_back(cosines + done, sines + done, pairs - done, pairing,
                             head + done * pairing.step);
}

void normalise(const float* means, const float* inverse_scales, std::int64_t channels,
               float* values) {
  std::int64_t c = 0;
  for (; c + kStep <= channels; c += kStep) {
    const __m256 centred = _mm256_sub_ps(_mm256_loadu_ps(values + c), _mm256_loadu_ps(means + c));
    _mm256_storeu_ps(values + c, _mm256_mul_ps(centred, _mm256_loadu_ps(inverse_scales + c)));
  }
  kScalarKernels.normalise(means + c, inverse_scales + c, channels - c, values + c);
}

// kBlocks * 8 coefficients from `j` on of kRows rows, kept in registers over all channels: rows
// share what is loaded of the matrix, which is larger than the first caches.
template <int kRows, int kBlocks>
static void analyse_coefficients(const float* values, std::int64_t stride, const float* inverse,
                                 std::int64_t width, std::int64_t j, float* out) {
  __m256 sum[kRows][kBlocks];
  for (auto& row : sum) {
    for (auto& part : row) part = _mm256_setzero_ps();
  }
  for (std::int64_t c = 0; c < width; ++c) {
    __m256 factors[kBlocks];
    for (int b = 0; b < kBlocks; ++b)
      factors[b] = _mm256_loadu_ps(inverse + c * width + j + b * kStep);
    for (int t = 0; t < kRows; ++t) {
      const __m256 value = _mm256_set1_ps(values[t * stride + c]);
      for (int b = 0; b < kBlocks; ++b)
        sum[t][b] = _mm256_add_ps(sum[t][b], _mm256_mul_ps(value, factors[b]));
    }
  }
  for (int t = 0; t < kRows; ++t) {
    for (int b = 0; b < kBlocks; ++b) _mm256_storeu_ps(out + t * stride + j + b * kStep, sum[t][b]);
  }
}

template <int kRows>
static void analyse_rows(const float* values, std::int64_t stride, const float* inverse,
                         std::int64_t width, float* out) {
  std::int64_t j = 0;
  for (; j + 2 * kStep <= width; j += 2 * kStep)
    analyse_coefficients<kRows, 2>(values, stride, inverse, width, j, out);
  for (; j + kStep <= width; j += kStep)
    analyse_coefficients<kRows, 1>(values, stride, inverse, width, j, out);
  for (; j < width; ++j) {
    for (int t = 0; t < kRows; ++t) {
      float sum = 0;
      for (std::int64_t c = 0; c < width; ++c)
        sum = sum + values[t * stride + c] * inverse[c * width + j];
      out[t * stride + j] = sum;
    }
  }
}

void analyse(const float* values, std::int64_t rows, std::int64_t stride, const float* inverse,
             std::int64_t width, float* out) {
  constexpr int kRows = 5;  // ten sums, two factors and a value of sixteen registers
  std::int64_t t = 0;
  for (; t + kRows <= rows; t += kRows)
    analyse_rows<kRows>(values + t * stride, stride, inverse, width, out + t * stride);
  for (; t < rows; ++t)
    analyse_rows<1>(values + t * stride, stride, inverse, width, out + t * stride);
}

void add_moments(const float* values, std::int64_t count, double* sums, double* squares) {
  constexpr std::int64_t kDoubles = 4;
  std::int64_t c = 0;
  for (; c + kDoubles <= count; c += kDoubles) {
    const __m256d four = _mm256_cvtps_pd(_mm_loadu_ps(values + c));
    _mm256_storeu_pd(sums + c, _mm256_add_pd(_mm256_loadu_pd(sums + c), four));
    if (squares == nullptr) continue;
    _mm256_storeu_pd(squares + c,
                     _mm256_add_pd(_mm256_loadu_pd(squares + c), _mm256_mul_pd(four, four)));
  }
  kScalarKernels.add_moments(values + c, count - c, sums + c,
                             squares == nullptr ? nullptr : squares + c);
}

float largest_distance(const float* values, const float* offsets, std::int64_t count) {
  const __m256 sign = _mm256_set1_ps(-0.0F);
  __m256 largest = _mm256_setzero_ps();
  std::int64_t c = 0;
  for (; c + kStep <= count; c += kStep) {
    const __m256 centred = _mm256_sub_ps(_mm256_loadu_ps(values + c), _mm256_loadu_ps(offsets + c));
    // The second operand where one is NaN.
    largest = _mm256_max_ps(_mm256_andnot_ps(sign, centred), largest);
  }
  float eight[kStep];
  _mm256_storeu_ps(eight, largest);
  float all = kScalarKernels.largest_distance(values + c, offsets + c, count - c);
  for (const float one : eight) all = one > all ? one : all;
  return all;
}

void quantise(const float* values, const float* offsets, float factor, std::int64_t count,
              std::int16_t* out) {
  const __m256 factors = _mm256_set1_ps(factor);
  const __m256 high = _mm256_set1_ps(kSymbolMax), low = _mm256_set1_ps(-kSymbolMax);
  std::int64_t j = 0;
  for (; j + kStep <= count; j += kStep) {
    const __m256 centred = _mm256_sub_ps(_mm256_loadu_ps(values + j), _mm256_loadu_ps(offsets + j));
    const __m256 product = _mm256_mul_ps(centred, factors);
    const __m256 is_number = _mm256_cmp_ps(product, product, _CMP_ORD_Q);
    const __m256 kept = _mm256_min_ps(_mm256_max_ps(_mm256_and_ps(product, is_number), low), high);
    const __m256i whole = _mm256_cvtps_epi32(kept);
    _mm_storeu_si128(
        reinterpret_cast<__m128i*>(out + j),
        _mm_packs_epi32(_mm256_castsi256_si128(whole), _mm256_extracti128_si256(whole, 1)));
  }
  kScalarKernels.quantise(values + j, offsets + j, factor, count - j, out + j);
}

void coarsen(const std::int16_t* symbols, std::int64_t count, int times, std::int16_t* out) {
  constexpr std::int64_t kSixteen = 16;
  // floor(n / 3) is n * 43691 / 2^17 for all n of 16 bits.
  const __m256i third = _mm256_set1_epi16(static_cast<std::int16_t>(43691));
  const __m256i one = _mm256_set1_epi16(1);
  std::int64_t j = 0;
  for (; j + kSixteen <= count; j += kSixteen) {
    const __m256i q = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(symbols + j));
    __m256i size = _mm256_abs_epi16(q);
    for (int i = 0; i < times; ++i)
      size = _mm256_srli_epi16(_mm256_mulhi_epu16(_mm256_add_epi16(size, one), third), 1);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + j), _mm256_sign_epi16(size, q));
  }
  kScalarKernels.coarsen(symbols + j, count - j, times, out + j);
}

}  // namespace

const Kernels kAvx2Kernels{.synthesise = avx2::synthesise,
                           .finish_symbols = avx2::finish_symbols,
                           .finish_sums = avx2::finish_sums,
                           .sines_of = avx2::sines_of,
                           .rotate = rotate,
                           .rotate_back = rotate_back,
                           .normalise = normalise,
                           .analyse = analyse,
                           .add_moments = add_moments,
                           .largest_distance = largest_distance,
                           .quantise = quantise,
                           .coarsen = coarsen};

}  // namespace sluice::ladder
