// Encoders' loops, and rotation alone; eight channels at a time, tails and odd pairings as in
// cpu.cc, one by one.
#include <immintrin.h>

#include "codec/sluice/avx2_decode.h"

namespace sluice::ladder {
namespace {

constexpr std::int64_t kStep = 8;

static inline void store8(std::int32_t* to, __m256i values) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), values);
}

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

// kBlocks * 8 coefficients from `j` on, kept in registers over all channels.
template <int kBlocks>
static void analyse_coefficients(const float* values, const float* inverse, std::int64_t width,
                                 std::int64_t j, float* out) {
  __m256 sum[kBlocks];
  for (auto& part : sum) part = _mm256_setzero_ps();
  for (std::int64_t c = 0; c < width; ++c) {
    const __m256 value = _mm256_set1_ps(values[c]);
    const float* const row = inverse + c * width + j;
    for (int b = 0; b < kBlocks; ++b) {
      const __m256 product = _mm256_mul_ps(value, _mm256_loadu_ps(row + b * kStep));
      sum[b] = _mm256_add_ps(sum[b], product);
    }
  }
  for (int b = 0; b < kBlocks; ++b) _mm256_storeu_ps(out + j + b * kStep, sum[b]);
}

void analyse(const float* values, const float* inverse, std::int64_t width, float* out) {
  std::int64_t j = 0;
  for (; j + 8 * kStep <= width; j += 8 * kStep)
    analyse_coefficients<8>(values, inverse, width, j, out);
  for (; j + kStep <= width; j += kStep) analyse_coefficients<1>(values, inverse, width, j, out);
  for (; j < width; ++j) {
    float sum = 0;
    for (std::int64_t c = 0; c < width; ++c) sum = sum + values[c] * inverse[c * width + j];
    out[j] = sum;
  }
}

void quantise(const float* values, const float* offsets, float factor, std::int64_t count,
              float limit, std::int32_t* out) {
  const __m256 factors = _mm256_set1_ps(factor);
  const __m256 high = _mm256_set1_ps(limit), low = _mm256_set1_ps(-limit);
  std::int64_t j = 0;
  for (; j + kStep <= count; j += kStep) {
    const __m256 centred = _mm256_sub_ps(_mm256_loadu_ps(values + j), _mm256_loadu_ps(offsets + j));
    const __m256 product = _mm256_mul_ps(centred, factors);
    const __m256 is_number = _mm256_cmp_ps(product, product, _CMP_ORD_Q);
    const __m256 kept = _mm256_min_ps(_mm256_max_ps(_mm256_and_ps(product, is_number), low), high);
    store8(out + j, _mm256_cvtps_epi32(kept));
  }
  kScalarKernels.quantise(values + j, offsets + j, factor, count - j, limit, out + j);
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
                           .quantise = quantise};

}  // namespace sluice::ladder
