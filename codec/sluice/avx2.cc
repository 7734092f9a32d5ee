// Eight channels at a time; tails and odd pairings as in cpu.cc, one by one.
#include <immintrin.h>

#include "codec/avx2_floats.h"
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

static inline RowScale rest_of(const RowScale& row, std::int64_t c) {
  return {row.step, row.scales + c, row.offsets + c};
}

// What a head's channels are before rotation, eight at a time.
template <typename Number>
class Channels {
 public:
  Channels(const Number* numbers, const RowScale& row)
      : numbers_(numbers),
        step_(_mm256_set1_ps(row.step)),
        scales_(row.scales),
        offsets_(row.offsets) {}
  [[nodiscard]] inline __m256 eight(std::int64_t c) const {
    const __m256 scale = _mm256_mul_ps(step_, _mm256_loadu_ps(scales_ + c));
    const __m256 numbers = _mm256_cvtepi32_ps(numbers8(numbers_ + c));
    return _mm256_add_ps(_mm256_mul_ps(scale, numbers), _mm256_loadu_ps(offsets_ + c));
  }

 private:
  static inline __m256i numbers8(const std::int32_t* from) { return load8(from); }
  static inline __m256i numbers8(const std::int16_t* from) {
    return _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }

  const Number* numbers_;
  __m256 step_;
  const float* scales_;
  const float* offsets_;
};

// codable(), then to the dtype; what is codable is no NaN.
template <Dtype dtype>
static inline void store_codable(std::byte* to, __m256 x) {
  const __m256 limit = _mm256_set1_ps(65504.0F), low = _mm256_set1_ps(-65504.0F);
  const __m256 number = _mm256_and_ps(x, _mm256_cmp_ps(x, x, _CMP_ORD_Q));
  const __m256 kept = _mm256_max_ps(_mm256_min_ps(number, limit), low);
  if constexpr (dtype == Dtype::kFp32) {
    _mm256_storeu_ps(reinterpret_cast<float*>(to), kept);
  } else {
    const __m128i half = dtype == Dtype::kFp16
                             ? avx2::fp32_to_fp16(kept)
                             : avx2::narrowed(avx2::rounded_to_bf16(_mm256_castps_si256(kept)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), half);
  }
}

constexpr std::int64_t kInterleavedPairs = kStep / 2;

// Pairs that lie one behind the other, four at a time.
template <Dtype dtype, typename Number>
static void finish_interleaved(const Channels<Number>& channels, const Turn& turn,
                               std::byte* elements) {
  constexpr std::int64_t kWidth = bytes_per_element(dtype);
  const __m256i twice = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
  const auto of_pairs = [twice](const float* from) {
    return _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(from)), twice);
  };
  for (std::int64_t i = 0; i < turn.pairs; i += kInterleavedPairs) {
    const std::int64_t c = turn.pairing.first + 2 * i;
    const __m256 both = channels.eight(c);
    const __m256 swapped = _mm256_permute_ps(both, 0xB1);
    const __m256 turned = _mm256_addsub_ps(_mm256_mul_ps(both, of_pairs(turn.cosines + i)),
                                           _mm256_mul_ps(swapped, of_pairs(turn.sines + i)));
    store_codable<dtype>(elements + c * kWidth, turned);
  }
}

// Pairs whose members lie in two runs.
template <Dtype dtype, typename Number>
static inline void finish_halves(const Channels<Number>& channels, const Turn& turn,
                                 std::byte* elements) {
  constexpr std::int64_t kWidth = bytes_per_element(dtype);
  for (std::int64_t i = 0; i < turn.pairs; i += kStep) {
    const std::int64_t first = turn.pairing.first + i, second = first + turn.pairing.distance;
    const __m256 a = channels.eight(first), b = channels.eight(second);
    const __m256 c = _mm256_loadu_ps(turn.cosines + i), s = _mm256_loadu_ps(turn.sines + i);
    const __m256 ac = _mm256_mul_ps(a, c), bs = _mm256_mul_ps(b, s);
    const __m256 bc = _mm256_mul_ps(b, c), as = _mm256_mul_ps(a, s);
    store_codable<dtype>(elements + first * kWidth, _mm256_sub_ps(ac, bs));
    store_codable<dtype>(elements + second * kWidth, _mm256_add_ps(bc, as));
  }
}

template <Dtype dtype, typename Number>
static void finish_heads(const Number* numbers, const RowScale& row, const Turn& turn,
                         const TokenTarget& to) {
  constexpr std::int64_t kWidth = bytes_per_element(dtype);
  const std::int64_t turned = turn.pairs == 0 ? 0 : turn.pairing.first;
  std::int64_t first = 0;
  for (std::int64_t head = 0; head < to.heads; ++head, first += to.dim) {
    const Channels<Number> channels(numbers + first, rest_of(row, first));
    std::byte* const elements = to.elements + head * to.head_bytes;
    for (std::int64_t c = 0; c < turned; c += kStep)
      store_codable<dtype>(elements + c * kWidth, channels.eight(c));
    if (turn.pairing.step == 1) {
      finish_halves<dtype>(channels, turn, elements);
    } else {
      finish_interleaved<dtype>(channels, turn, elements);
    }
    for (std::int64_t c = turned + 2 * turn.pairs; c < to.dim; c += kStep)
      store_codable<dtype>(elements + c * kWidth, channels.eight(c));
  }
}

// Whether a head's channels, turned and not, come in whole registers.
static bool comes_in_eights(const Turn& turn, std::int64_t dim) {
  if (dim % kStep != 0) return false;
  if (turn.pairs == 0) return true;
  const std::int64_t pairs_at_once = turn.pairing.step == 1 ? kStep : kInterleavedPairs;
  return turn.pairing.first % kStep == 0 && turn.pairs % pairs_at_once == 0;
}

template <typename Number>
static void finish(const Number* numbers, const RowScale& row, const Turn& turn,
                   const TokenTarget& to) {
  switch (to.dtype) {
    case Dtype::kFp16:
      return finish_heads<Dtype::kFp16>(numbers, row, turn, to);
    case Dtype::kBf16:
      return finish_heads<Dtype::kBf16>(numbers, row, turn, to);
    case Dtype::kFp32:
      return finish_heads<Dtype::kFp32>(numbers, row, turn, to);
  }
}

void finish_symbols(const std::int16_t* symbols, const RowScale& row, const Turn& turn,
                    const TokenTarget& to) {
  if (!comes_in_eights(turn, to.dim)) return kScalarKernels.finish_symbols(symbols, row, turn, to);
  finish(symbols, row, turn, to);
}

void finish_sums(const std::int32_t* sums, const RowScale& row, const Turn& turn,
                 const TokenTarget& to) {
  if (!comes_in_eights(turn, to.dim)) return kScalarKernels.finish_sums(sums, row, turn, to);
  finish(sums, row, turn, to);
}

// Four angles: the operations of sine_cosine() in their order.
static inline void four_sines(__m256d angle, double* sines, double* cosines) {
  const __m256d one = _mm256_set1_pd(1), sign_bit = _mm256_set1_pd(-0.0);
  const __m256d quarters = _mm256_floor_pd(_mm256_add_pd(
      _mm256_mul_pd(angle, _mm256_set1_pd(SineCosineRule::kTwoOverPi)), _mm256_set1_pd(0.5)));
  const __m256d high = _mm256_mul_pd(quarters, _mm256_set1_pd(SineCosineRule::kHalfPiHigh));
  const __m256d low = _mm256_mul_pd(quarters, _mm256_set1_pd(SineCosineRule::kHalfPiLow));
  const __m256d r = _mm256_sub_pd(_mm256_sub_pd(angle, high), low);
  const __m256d r2 = _mm256_mul_pd(r, r);
  const auto series = [&](int terms) {
    __m256d sum = one;
    for (int n = terms; n >= 2; n -= 2) {
      const __m256d term = _mm256_mul_pd(sum, r2);
      sum = _mm256_sub_pd(one, _mm256_div_pd(term, _mm256_set1_pd(n * (n - 1))));
    }
    return sum;
  };
  const __m256d sine = _mm256_mul_pd(series(SineCosineRule::kSineTerms), r);
  const __m256d cosine = series(SineCosineRule::kCosineTerms);
  // n mod 4: odd swaps sine and cosine, 2 and 3 negate the sine, 1 and 2 the cosine.
  const __m256i n = _mm256_cvtepi32_epi64(_mm256_cvttpd_epi32(quarters));
  const __m256d is_odd = _mm256_castsi256_pd(_mm256_slli_epi64(n, 63));
  const __m256d sine_sign = _mm256_and_pd(_mm256_castsi256_pd(_mm256_slli_epi64(n, 62)), sign_bit);
  const __m256d cosine_sign = _mm256_xor_pd(sine_sign, _mm256_and_pd(is_odd, sign_bit));
  const __m256d is_known = _mm256_cmp_pd(_mm256_andnot_pd(sign_bit, angle),
                                         _mm256_set1_pd(SineCosineRule::kAngleMax), _CMP_LT_OQ);
  const __m256d s = _mm256_xor_pd(_mm256_blendv_pd(sine, cosine, is_odd), sine_sign);
  const __m256d c = _mm256_xor_pd(_mm256_blendv_pd(cosine, sine, is_odd), cosine_sign);
  _mm256_storeu_pd(sines, _mm256_and_pd(s, is_known));
  _mm256_storeu_pd(cosines, _mm256_blendv_pd(one, c, is_known));
}

void sines_of(const double* angles, std::int64_t count, double* sines, double* cosines) {
  constexpr std::int64_t kDoubles = 4;
  std::int64_t i = 0;
  for (; i + kDoubles <= count; i += kDoubles)
    four_sines(_mm256_loadu_pd(angles + i), sines + i, cosines + i);
  kScalarKernels.sines_of(angles + i, count - i, sines + i, cosines + i);
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
                           .finish_symbols = finish_symbols,
                           .finish_sums = finish_sums,
                           .sines_of = sines_of,
                           .rotate = rotate,
                           .rotate_back = rotate_back,
                           .normalise = normalise,
                           .analyse = analyse,
                           .quantise = quantise};

}  // namespace sluice::ladder
