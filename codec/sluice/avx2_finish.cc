// From whole numbers to elements in registers, eight channels at a time; and the sines of rotation.
// Where in the flow: the last loop of decoders. Heads that do not come in eights go to the scalar
// loop.
#include <immintrin.h>

#include "codec/avx2_floats.h"
#include "codec/sluice/avx2_decode.h"

namespace sluice::ladder::avx2 {
namespace {

constexpr std::int64_t kStep = 8;

// Beyond them, and where a value is no number, a line is written again with its limits kept.
constexpr std::int32_t kMaxCodableBits = 0x477FE000;  // 65504

// What a line's channels are before rotation, eight at a time.
template <typename Number>
class Channels {
 public:
  Channels(const HeadLines<Number>& numbers, std::int64_t line, const HeadFinish& head,
           std::int64_t row)
      : numbers_(numbers.first + line * numbers.line_stride),
        piece_stride_(numbers.piece_stride),
        step_(_mm256_set1_ps(head.steps[row])),
        scales_(head.scales),
        offsets_(head.offsets) {}
  [[nodiscard]] inline __m256 eight(std::int64_t c) const {
    const Number* const from = numbers_ + c / entropy::kLanes * piece_stride_ + c % entropy::kLanes;
    const __m256 scale = _mm256_mul_ps(step_, _mm256_loadu_ps(scales_ + c));
    const __m256 product = _mm256_mul_ps(scale, _mm256_cvtepi32_ps(numbers8(from)));
    return _mm256_add_ps(product, _mm256_loadu_ps(offsets_ + c));
  }

 private:
  static inline __m256i numbers8(const std::int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static inline __m256i numbers8(const std::int16_t* from) {
    return _mm256_cvtepi16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }

  const Number* numbers_;
  std::int64_t piece_stride_;
  __m256 step_;
  const float* scales_;
  const float* offsets_;
};

// Rounds values to a line's elements, and remembers the largest.
template <Dtype dtype, bool kStreams>
class LineStore {
 public:
  explicit LineStore(std::byte* elements) : elements_(elements) {}

  template <int kEights>
  inline void put(std::int64_t c, const __m256 (&values)[kEights]) {
    for (const __m256 x : values) {
      const __m256i size = _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7FFFFFFF));
      largest_ = _mm256_max_epi32(largest_, size);
    }
    std::byte* const to = elements_ + c * bytes_per_element(dtype);
    if constexpr (dtype == Dtype::kFp32) {
      for (int i = 0; i < kEights; ++i)
        _mm256_storeu_ps(reinterpret_cast<float*>(to) + i * kStep, values[i]);
    } else if constexpr (kEights == 2) {
      auto* const address = reinterpret_cast<__m256i*>(to);
      const __m256i halves = sixteen(values[0], values[1]);
      if constexpr (kStreams) {
        _mm256_stream_si256(address, halves);
      } else {
        _mm256_storeu_si256(address, halves);
      }
    } else {
      for (int i = 0; i < kEights; ++i) {
        const __m128i half = dtype == Dtype::kFp16 ? sluice::avx2::fp32_to_fp16(values[i])
                                                   : sluice::avx2::narrowed(rounded(values[i]));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to) + i, half);
      }
    }
  }
  [[nodiscard]] inline bool is_codable() const {
    const __m256i beyond = _mm256_cmpgt_epi32(largest_, _mm256_set1_epi32(kMaxCodableBits));
    return _mm256_testz_si256(beyond, beyond) != 0;
  }

 private:
  static inline __m256i sixteen(__m256 a, __m256 b) {
    if constexpr (dtype == Dtype::kFp16)
      return _mm256_set_m128i(sluice::avx2::fp32_to_fp16(b), sluice::avx2::fp32_to_fp16(a));
    // Packing parts the halves of both.
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(rounded(a), rounded(b)), 0xD8);
  }
  static inline __m256i rounded(__m256 x) {
    return sluice::avx2::rounded_to_bf16(_mm256_castps_si256(x));
  }

  std::byte* elements_;
  __m256i largest_ = _mm256_setzero_si256();
};

// Channels that do not turn.
template <int kEights, Dtype dtype, bool kStreams, typename Number>
static inline void finish_plain(const Channels<Number>& channels, std::int64_t begin,
                                std::int64_t end, LineStore<dtype, kStreams>& out) {
  for (std::int64_t c = begin; c < end; c += kEights * kStep) {
    __m256 values[kEights];
    for (int i = 0; i < kEights; ++i) values[i] = channels.eight(c + i * kStep);
    out.put(c, values);
  }
}

constexpr std::int64_t kInterleavedPairs = kStep / 2;

// Pairs that lie one behind the other, four at a time.
template <Dtype dtype, bool kStreams, typename Number>
static inline void finish_interleaved(const Channels<Number>& channels, const Turn& turn,
                                      std::int64_t row, LineStore<dtype, kStreams>& out) {
  const __m256i twice = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
  const auto of_pairs = [twice](const float* from) {
    return _mm256_permutevar8x32_ps(_mm256_castps128_ps256(_mm_loadu_ps(from)), twice);
  };
  const float* const cosines = turn.cosines + row * turn.pairs;
  const float* const sines = turn.sines + row * turn.pairs;
  for (std::int64_t i = 0; i < turn.pairs; i += kInterleavedPairs) {
    const std::int64_t c = turn.pairing.first + 2 * i;
    const __m256 both = channels.eight(c);
    const __m256 swapped = _mm256_permute_ps(both, 0xB1);
    const __m256 turned[1] = {_mm256_addsub_ps(_mm256_mul_ps(both, of_pairs(cosines + i)),
                                               _mm256_mul_ps(swapped, of_pairs(sines + i)))};
    out.put(c, turned);
  }
}

// Pairs whose members lie in two runs.
template <int kEights, Dtype dtype, bool kStreams, typename Number>
static inline void finish_halves(const Channels<Number>& channels, const Turn& turn,
                                 std::int64_t row, LineStore<dtype, kStreams>& out) {
  const float* const cosines = turn.cosines + row * turn.pairs;
  const float* const sines = turn.sines + row * turn.pairs;
  for (std::int64_t begin = 0; begin < turn.pairs; begin += kEights * kStep) {
    const std::int64_t first = turn.pairing.first + begin;
    const std::int64_t second = first + turn.pairing.distance;
    __m256 firsts[kEights], seconds[kEights];
    for (int i = 0; i < kEights; ++i) {
      const std::int64_t at = i * kStep;
      const __m256 a = channels.eight(first + at), b = channels.eight(second + at);
      const __m256 c = _mm256_loadu_ps(cosines + begin + at);
      const __m256 s = _mm256_loadu_ps(sines + begin + at);
      const __m256 ac = _mm256_mul_ps(a, c), bs = _mm256_mul_ps(b, s);
      const __m256 bc = _mm256_mul_ps(b, c), as = _mm256_mul_ps(a, s);
      firsts[i] = _mm256_sub_ps(ac, bs);
      seconds[i] = _mm256_add_ps(bc, as);
    }
    out.put(first, firsts);
    out.put(second, seconds);
  }
}

using Lines16 = HeadLines<std::int16_t>;
using Lines32 = HeadLines<std::int32_t>;

// The scalar loop, which keeps the limits.
static void finish_again(const Lines16& symbols, const HeadFinish& head) {
  kScalarKernels.finish_symbols(symbols, head);
}
static void finish_again(const Lines32& sums, const HeadFinish& head) {
  kScalarKernels.finish_sums(sums, head);
}

template <int kEights, Dtype dtype, bool kStreams, typename Number>
static void finish_lines(const HeadLines<Number>& numbers, const HeadFinish& head) {
  const Turn& turn = head.turn;
  const std::int64_t turned = turn.pairs == 0 ? 0 : turn.pairing.first;
  for (std::int64_t line = 0; line < numbers.lines; ++line) {
    const std::int64_t row = numbers.order == nullptr ? line : numbers.order[line];
    const Channels<Number> channels(numbers, line, head, row);
    LineStore<dtype, kStreams> out(head.elements + row * head.row_bytes);
    finish_plain<kEights>(channels, 0, turned, out);
    if (turn.pairing.step == 1) {
      finish_halves<kEights>(channels, turn, row, out);
    } else {
      finish_interleaved(channels, turn, row, out);
    }
    finish_plain<kEights>(channels, turned + 2 * turn.pairs, head.dim, out);
    if (out.is_codable()) continue;
    HeadLines<Number> again = numbers;
    again.first += line * numbers.line_stride;
    again.lines = 1;
    again.order = nullptr;
    finish_again(again, head.from(row));
  }
}

// Whether the channels of a head, turned and not, come in runs of so many.
static bool comes_in(std::int64_t step, const HeadFinish& head) {
  const Turn& turn = head.turn;
  if (head.dim % step != 0) return false;
  if (turn.pairs == 0) return true;
  const std::int64_t pairs_at_once = turn.pairing.step == 1 ? step : step / 2;
  return turn.pairing.first % step == 0 && turn.pairs % pairs_at_once == 0;
}

template <Dtype dtype, typename Number>
static void finish_as(const HeadLines<Number>& numbers, const HeadFinish& head) {
  constexpr bool kMayStream = dtype != Dtype::kFp32;
  if (kMayStream && head.streams && comes_in(2 * kStep, head)) {
    finish_lines<2, dtype, kMayStream>(numbers, head);
    _mm_sfence();
  } else if (comes_in(2 * kStep, head)) {
    finish_lines<2, dtype, false>(numbers, head);
  } else if (comes_in(kStep, head)) {
    finish_lines<1, dtype, false>(numbers, head);
  } else {
    finish_again(numbers, head);
  }
}

template <typename Number>
static void finish(const HeadLines<Number>& numbers, const HeadFinish& head) {
  switch (head.dtype) {
    case Dtype::kFp16:
      return finish_as<Dtype::kFp16>(numbers, head);
    case Dtype::kBf16:
      return finish_as<Dtype::kBf16>(numbers, head);
    case Dtype::kFp32:
      return finish_as<Dtype::kFp32>(numbers, head);
  }
}

}  // namespace

void finish_symbols(const Lines16& symbols, const HeadFinish& head) {
  finish(symbols, head);
}

void finish_sums(const Lines32& sums, const HeadFinish& head) {
  finish(sums, head);
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
