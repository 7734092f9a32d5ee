// Eight channels at a time; tails and odd pairings as in cpu.cc, one by one.
#include <immintrin.h>

#include "codec/sluice/kernel.h"

namespace sluice::ladder {
namespace {

constexpr std::int64_t kStep = 8;

static inline __m256i load8(const std::int32_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}
static inline void store8(std::int32_t* to, __m256i values) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), values);
}

// Both symbols of a pair in every 32-bit lane, first below second.
static inline std::int32_t symbol_pair(const std::int16_t* symbols, std::int64_t j,
                                       std::int64_t width) {
  const std::uint32_t first = static_cast<std::uint16_t>(symbols[j]);
  const std::uint32_t second =
      j + 1 < width ? static_cast<std::uint16_t>(symbols[j + 1]) : std::uint32_t{0};
  return static_cast<std::int32_t>(first | second << 16);
}

// kBlocks * 8 channels from `c` on, kept in registers over all coefficients.
template <int kBlocks>
static void synthesise_channels(const std::int32_t* pairs, const std::int16_t* rows,
                                const std::int32_t* used, std::int64_t num_used, std::int64_t c,
                                const BlockBasis& basis, std::int32_t* sums) {
  __m256i sum[kBlocks];
  for (auto& part : sum) part = _mm256_setzero_si256();
  for (std::int64_t i = 0; i < num_used; ++i) {
    const __m256i symbols = _mm256_set1_epi32(pairs[used[i]]);
    const std::int16_t* const row = rows + (used[i] * basis.width + c) * 2;
    for (int b = 0; b < kBlocks; ++b) {
      const __m256i factors =
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + b * 2 * kStep));
      sum[b] = _mm256_add_epi32(sum[b], _mm256_madd_epi16(symbols, factors));
    }
  }
  for (int b = 0; b < kBlocks; ++b) store8(sums + c + b * kStep, sum[b]);
}

constexpr std::int64_t kPairsAtOnce = 512;

// Adds the channels that fill no register.
static void synthesise_tail(const std::int32_t* pairs, const std::int32_t* used,
                            std::int64_t num_used, std::int64_t c, const BlockBasis& basis,
                            std::int32_t* sums) {
  for (; c < basis.width; ++c) {
    std::uint32_t sum = 0;
    for (std::int64_t i = 0; i < num_used; ++i) {
      const std::int16_t* const row = basis.pairs + (used[i] * basis.width + c) * 2;
      const std::int32_t pair = pairs[used[i]];
      sum += static_cast<std::uint32_t>(static_cast<std::int16_t>(pair) * row[0]);
      sum += static_cast<std::uint32_t>(static_cast<std::int16_t>(pair >> 16) * row[1]);
    }
    sums[c] = static_cast<std::int32_t>(sum);
  }
}

// Of coefficients [begin, end), all within kPairsAtOnce pairs.
static void synthesise_part(const std::int16_t* symbols, std::int64_t begin, std::int64_t end,
                            const BlockBasis& basis, std::int32_t* sums) {
  std::int32_t pairs[kPairsAtOnce];
  std::int32_t used[kPairsAtOnce];
  std::int64_t num_used = 0;
  for (std::int64_t j = begin; j < end; j += 2) {
    const auto p = static_cast<std::int32_t>((j - begin) / 2);
    pairs[p] = symbol_pair(symbols, j, basis.width);
    used[num_used] = p;
    num_used += pairs[p] != 0 ? 1 : 0;  // most symbols of a coarse rung are 0
  }
  const BlockBasis part{basis.pairs + begin * basis.width, basis.width};
  std::int64_t c = 0;
  for (; c + 8 * kStep <= basis.width; c += 8 * kStep)
    synthesise_channels<8>(pairs, part.pairs, used, num_used, c, part, sums);
  for (; c + kStep <= basis.width; c += kStep)
    synthesise_channels<1>(pairs, part.pairs, used, num_used, c, part, sums);
  synthesise_tail(pairs, used, num_used, c, part, sums);
}

void synthesise(const std::int16_t* symbols, const BlockBasis& basis, std::int32_t* sums) {
  if (basis.width <= 2 * kPairsAtOnce) return synthesise_part(symbols, 0, basis.width, basis, sums);
  kScalarKernels.synthesise(symbols, basis, sums);
}

static inline __m256 scaled(__m256 numbers, std::int64_t c, __m256 step, const RowScale& row) {
  const __m256 scale = _mm256_mul_ps(step, _mm256_loadu_ps(row.scales + c));
  return _mm256_add_ps(_mm256_mul_ps(scale, numbers), _mm256_loadu_ps(row.offsets + c));
}

static inline RowScale rest_of(const RowScale& row, std::int64_t c) {
  return {row.step, row.scales + c, row.offsets + c};
}

void scale_symbols(const std::int16_t* symbols, std::int64_t channels, const RowScale& row,
                   float* values) {
  const __m256 step = _mm256_set1_ps(row.step);
  std::int64_t c = 0;
  for (; c + kStep <= channels; c += kStep) {
    const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(symbols + c));
    const __m256 numbers = _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(eight));
    _mm256_storeu_ps(values + c, scaled(numbers, c, step, row));
  }
  kScalarKernels.scale_symbols(symbols + c, channels - c, rest_of(row, c), values + c);
}

void scale_sums(const std::int32_t* sums, std::int64_t channels, const RowScale& row,
                float* values) {
  const __m256 step = _mm256_set1_ps(row.step);
  std::int64_t c = 0;
  for (; c + kStep <= channels; c += kStep) {
    const __m256 numbers = _mm256_cvtepi32_ps(load8(sums + c));
    _mm256_storeu_ps(values + c, scaled(numbers, c, step, row));
  }
  kScalarKernels.scale_sums(sums + c, channels - c, rest_of(row, c), values + c);
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

const Kernels kAvx2Kernels{.synthesise = synthesise,
                           .scale_symbols = scale_symbols,
                           .scale_sums = scale_sums,
                           .rotate = rotate,
                           .rotate_back = rotate_back,
                           .normalise = normalise,
                           .analyse = analyse,
                           .quantise = quantise};

}  // namespace sluice::ladder
