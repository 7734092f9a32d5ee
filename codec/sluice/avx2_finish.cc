// From whole numbers to a token's elements in registers, eight channels at a time; and the sines of
// its rotation.
// Where in the flow: the last loop of decoders. Heads that do not come in eights go to the scalar
// loop.
#include <immintrin.h>

#include "codec/avx2_floats.h"
#include "codec/sluice/avx2_decode.h"

namespace sluice::ladder::avx2 {
namespace {

constexpr std::int64_t kStep = 8;

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
  static inline __m256i numbers8(const std::int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
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
    const __m128i half =
        dtype == Dtype::kFp16
            ? sluice::avx2::fp32_to_fp16(kept)
            : sluice::avx2::narrowed(sluice::avx2::rounded_to_bf16(_mm256_castps_si256(kept)));
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

}  // namespace

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

namespace {

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

}  // namespace

void sines_of(const double* angles, std::int64_t count, double* sines, double* cosines) {
  constexpr std::int64_t kDoubles = 4;
  std::int64_t i = 0;
  for (; i + kDoubles <= count; i += kDoubles)
    four_sines(_mm256_loadu_pd(angles + i), sines + i, cosines + i);
  kScalarKernels.sines_of(angles + i, count - i, sines + i, cosines + i);
}

}  // namespace sluice::ladder::avx2
