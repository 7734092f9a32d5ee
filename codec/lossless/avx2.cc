// lossless's decoding loop with AVX2 and BMI2; cpu.cc is its oracle.
// Surprise: mantissa bits are unpacked eight at a time by one pdep; loads of 8 bytes may pass the
// last token's low bits, never what follows them.
#include <immintrin.h>

#include <cstring>

#include "codec/lossless/kernel.h"

namespace sluice::lossless {
namespace {

constexpr int kLanes = 16;  // channels of one step
constexpr int kBlockColumns = 32;

// `bits` (0 to 7) of each of eight channels, from a multiple of eight channels on, one per byte.
std::uint64_t unpacked8(const std::byte* from, int bits) {
  std::uint64_t packed = 0;
  std::memcpy(&packed, from, sizeof packed);
  return _pdep_u64(packed, 0x0101010101010101U * ((1U << bits) - 1));
}

// Bytes of up to 16 channels, zeros behind them.
__m128i bytes16(const std::byte* from, int count) {
  if (count == kLanes) return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  __m128i bytes = _mm_setzero_si128();
  std::memcpy(&bytes, from, static_cast<std::size_t>(count));
  return bytes;
}

// The upper bits of the mantissas of 16 channels, one per byte.
__m128i extra16(const std::byte* from, int bits, int count) {
  const auto low = static_cast<long long>(unpacked8(from, bits));
  const auto high = count > 8 ? static_cast<long long>(unpacked8(from + bits, bits)) : 0;
  return _mm_set_epi64x(high, low);
}

__m256i load16(const std::int16_t* from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

// to_sign_exponent() of 16 symbols: the exponents, and the signs as all ones or zeros.
struct SignExponent {
  __m256i negative, exponent;
};
SignExponent sign_exponents(__m256i symbols, __m256i tops, __m256i flips, __m256i mask) {
  const __m256i is_rare = _mm256_srai_epi16(symbols, 15);
  const __m256i distance = _mm256_xor_si256(symbols, is_rare);
  const __m256i is_far = _mm256_cmpgt_epi16(distance, _mm256_set1_epi16(kZeroDistance - 1));
  const __m256i plain = _mm256_sub_epi16(distance, _mm256_set1_epi16(kPlainDistance));
  const __m256i far = _mm256_max_epi16(plain, _mm256_setzero_si256());
  const __m256i near = _mm256_sub_epi16(tops, distance);
  return {_mm256_xor_si256(is_rare, flips),
          _mm256_and_si256(_mm256_blendv_epi8(near, far, is_far), mask)};
}

// A step's low bits: where they are and how to put them together.
class Mantissas {
 public:
  explicit Mantissas(const MergeBlock& block)
      : layout_(block.layout), zeros_(_mm_cvtsi32_si128(block.layout.zeros)) {}

  // Of a 16-bit dtype: at most one whole byte.
  [[nodiscard]] __m256i words16(const std::byte* low, std::int64_t channel, int count) const {
    __m256i kept = _mm256_setzero_si256();
    if (layout_.extra_bits > 0) kept = _mm256_cvtepu8_epi16(extra(low, channel, count));
    if (layout_.whole_bytes > 0) {
      kept = _mm256_or_si256(_mm256_slli_epi16(kept, 8),
                             _mm256_cvtepu8_epi16(bytes16(low + channel, count)));
    }
    return _mm256_sll_epi16(kept, zeros_);
  }

  // Of fp32: the first or the last eight of the 16 channels.
  void words32(const std::byte* low, std::int64_t channel, int count, __m256i (&words)[2]) const {
    words[0] = words[1] = _mm256_setzero_si256();
    if (layout_.extra_bits > 0) append(extra(low, channel, count), words);
    for (int k = layout_.whole_bytes - 1; k >= 0; --k)
      append(bytes16(low + k * layout_.channels + channel, count), words);
    for (__m256i& half : words) half = _mm256_sll_epi32(half, zeros_);
  }

 private:
  [[nodiscard]] __m128i extra(const std::byte* low, std::int64_t channel, int count) const {
    const std::int64_t at = layout_.extra_at() + channel * layout_.extra_bits / 8;
    return extra16(low + at, layout_.extra_bits, count);
  }
  static void append(__m128i bytes, __m256i (&words)[2]) {
    words[0] = _mm256_or_si256(_mm256_slli_epi32(words[0], 8), _mm256_cvtepu8_epi32(bytes));
    words[1] = _mm256_or_si256(_mm256_slli_epi32(words[1], 8),
                               _mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8)));
  }

  LowBits layout_;
  __m128i zeros_;
};

void store(const __m256i* words, int bytes, std::byte* to) {
  std::memcpy(to, words, static_cast<std::size_t>(bytes));
}

template <Dtype kDtype>
class Merger {
 public:
  explicit Merger(const MergeBlock& block) : block_(block), mantissas_(block) {}

  void run() const {
    const std::int64_t low_stride = block_.layout.bytes_per_token();
    for (std::int64_t line = 0; line < block_.lines; ++line) {
      const std::int64_t row = block_.order == nullptr ? line : block_.order[line];
      const std::int16_t* symbols = block_.symbols + line * kBlockColumns;
      const std::byte* low = block_.low + row * low_stride;
      std::byte* to = block_.target + row * block_.row_bytes;
      int i = 0;
      for (; i + kLanes <= block_.columns; i += kLanes) step(symbols + i, low, i, kLanes, to);
      if (i == block_.columns) continue;
      std::int16_t last[kLanes]{};
      const int count = block_.columns - i;
      std::memcpy(last, symbols + i, static_cast<std::size_t>(count) * sizeof(std::int16_t));
      step(last, low, i, count, to);
    }
  }

 private:
  static constexpr int kWidth = static_cast<int>(bytes_per_element(kDtype));

  void step(const std::int16_t* symbols, const std::byte* low, int i, int count,
            std::byte* row) const {
    constexpr Format kFormat = format_of(kDtype);
    const auto mask = _mm256_set1_epi16(static_cast<std::int16_t>(kFormat.exponent_mask()));
    const SignExponent upper =
        sign_exponents(load16(symbols), load16(block_.tops + i), load16(block_.flips + i), mask);
    std::byte* to = row + i * kWidth;
    if constexpr (kDtype == Dtype::kFp32) {
      __m256i words[2];
      mantissas_.words32(low, block_.channel + i, count, words);
      words[0] = with_upper(words[0], _mm256_castsi256_si128(upper.negative),
                            _mm256_castsi256_si128(upper.exponent));
      words[1] = with_upper(words[1], _mm256_extracti128_si256(upper.negative, 1),
                            _mm256_extracti128_si256(upper.exponent, 1));
      store(words, count * kWidth, to);
    } else {
      const __m256i sign = _mm256_slli_epi16(upper.negative, 15);
      const __m256i exponent = _mm256_slli_epi16(upper.exponent, kFormat.mantissa_bits);
      const __m256i word = _mm256_or_si256(_mm256_or_si256(sign, exponent),
                                           mantissas_.words16(low, block_.channel + i, count));
      if (count == kLanes) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), word);
      } else {
        store(&word, count * kWidth, to);
      }
    }
  }

  // Eight fp32 words of mantissas, 16-bit signs and exponents.
  static __m256i with_upper(__m256i mantissas, __m128i negative, __m128i exponent) {
    const __m256i sign = _mm256_slli_epi32(_mm256_cvtepi16_epi32(negative), 31);
    const __m256i exponents = _mm256_slli_epi32(_mm256_cvtepu16_epi32(exponent), 23);
    return _mm256_or_si256(_mm256_or_si256(sign, exponents), mantissas);
  }

  const MergeBlock& block_;
  Mantissas mantissas_;
};

}  // namespace

void merge_block_avx2(const MergeBlock& block) {
  const bool is_row = block.channel_bytes == bytes_per_element(block.dtype);
  if (!is_row || block.channel % 8 != 0) return merge_block(block);
  switch (block.dtype) {
    case Dtype::kFp16:
      return Merger<Dtype::kFp16>(block).run();
    case Dtype::kBf16:
      return Merger<Dtype::kBf16>(block).run();
    case Dtype::kFp32:
      return Merger<Dtype::kFp32>(block).run();
  }
}

}  // namespace sluice::lossless
