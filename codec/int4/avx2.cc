#include "codec/int4/avx2.h"

#include "codec/uniform/avx2_quantise.h"
#include "codec/uniform/avx2_rows.h"

namespace sluice::int4::avx2 {
namespace {

constexpr std::int64_t kEncodeBlock = 64;
constexpr std::int64_t kDecodeBlock = 32;

// Code of an even channel in the low half of its byte, of an odd one in the high half.
unsigned nibble_of(const std::uint8_t* codes, std::int64_t channel) {
  return static_cast<unsigned>(codes[channel / 2]) >> (channel % 2 * 4) & 0xFU;
}

template <typename Target>
class Decoder {
 public:
  static constexpr std::int64_t kElementBytes = bytes_per_element(Target::kDtype);

  // The values of the sixteen codes, in the order of their nibbles: 0 to 7, -8 to -1. A scale
  // serves 64 channels or more, so a look-up per element is cheaper than a product.
  void set_scale(float scale) {
    const __m256 factor = _mm256_set1_ps(scale);
    const __m256 positive = _mm256_mul_ps(_mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7), factor);
    const __m256 negative = _mm256_mul_ps(_mm256_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1), factor);
    if constexpr (kIsWide) {
      _mm256_storeu_ps(table_, positive);
      _mm256_storeu_ps(table_ + 8, negative);
    } else {
      const __m256i halves = uniform::avx2::halves16<Target::kDtype>(positive, negative);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(table_), halves);
      // In each 128-bit half its eight low bytes, then its eight high ones.
      const __m128i order = _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15);
      const __m256i split = _mm256_shuffle_epi8(halves, _mm256_set_m128i(order, order));
      low_bytes_ = _mm256_permute4x64_epi64(split, 0x88);
      high_bytes_ = _mm256_permute4x64_epi64(split, 0xDD);
    }
  }

  void decode(const std::uint8_t* codes, std::int64_t first, std::int64_t num_elems,
              std::byte* row) const {
    std::int64_t i = 0;
    if constexpr (!kIsWide) {
      if (first % 2 != 0) look_up(codes, first, i++, row);
      const std::uint8_t* from = codes + (first + i) / 2;
      for (; i + kDecodeBlock <= num_elems; i += kDecodeBlock, from += kDecodeBlock / 2)
        decode_block(from, row + i * kElementBytes);
    }
    while (i < num_elems) look_up(codes, first, i++, row);
  }

 private:
  static constexpr bool kIsWide = Target::kDtype == Dtype::kFp32;
  using Element = std::conditional_t<kIsWide, float, std::uint16_t>;

  void look_up(const std::uint8_t* codes, std::int64_t first, std::int64_t i,
               std::byte* row) const {
    std::memcpy(row + i * kElementBytes, &table_[nibble_of(codes, first + i)], sizeof(Element));
  }

  // 16 bytes of codes. They are spread over the two 128-bit halves such that unpacking twice, which
  // works within halves, leaves elements in order.
  void decode_block(const std::uint8_t* codes, std::byte* row) const {
    const __m128i packed = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes));
    const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(packed),
                                                      _mm256_setr_epi32(0, 2, 0, 2, 1, 3, 1, 3));
    const __m256i nibble = _mm256_set1_epi8(0xF);
    const __m256i even = _mm256_and_si256(bytes, nibble);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble);
    const __m256i nibbles = _mm256_unpacklo_epi8(even, odd);
    const __m256i low = _mm256_shuffle_epi8(low_bytes_, nibbles);
    const __m256i high = _mm256_shuffle_epi8(high_bytes_, nibbles);
    uniform::avx2::store32<Target>(row, _mm256_unpacklo_epi8(low, high));
    uniform::avx2::store32<Target>(row + 32, _mm256_unpackhi_epi8(low, high));
  }

  Element table_[16] = {};
  __m256i low_bytes_ = _mm256_setzero_si256();  // of the table, in both 128-bit halves
  __m256i high_bytes_ = _mm256_setzero_si256();
};

// 64 values to 32 bytes of two codes each.
__m256i pairs64(const float* values, __m256 scale) {
  const __m256i nibble = _mm256_set1_epi8(0xF);
  const __m256i weights = _mm256_set1_epi16(0x1001);  // the even code once, the odd one 16 times
  const __m256i low = _mm256_maddubs_epi16(
      _mm256_and_si256(uniform::avx2::codes32(values, scale), nibble), weights);
  const __m256i high = _mm256_maddubs_epi16(
      _mm256_and_si256(uniform::avx2::codes32(values + 32, scale), nibble), weights);
  return _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xD8);
}

}  // namespace

void encode_token(const float* channels, std::int64_t num_channels, std::int64_t group,
                  std::uint16_t* scales, std::uint8_t* codes) {
  for (std::int64_t begin = 0; begin < num_channels; begin += group) {  // group is even or the last
    const std::int64_t left = num_channels - begin;
    const std::int64_t num_values = left < group ? left : group;
    const float* values = channels + begin;
    *scales = uniform::avx2::scale_of(uniform::avx2::max_magnitude(values, num_values), 7.0F);
    const __m256 scale = _mm256_set1_ps(_cvtsh_ss(*scales));
    std::uint8_t* to = codes + begin / 2;
    if (*scales++ == 0) {
      std::memset(to, 0, static_cast<std::size_t>((num_values + 1) / 2));
      continue;
    }
    uniform::avx2::for_each_block<kEncodeBlock>(
        values, num_values, [&](std::int64_t i, const float* block, std::int64_t count) {
          const __m256i bytes = pairs64(block, scale);
          std::memcpy(to + i / 2, &bytes, static_cast<std::size_t>((count + 1) / 2));
        });
  }
}

bool decode_rows(const uniform::CodedTensor& coded, const uniform::Rows& rows) {
  uniform::avx2::with_target(
      rows, [&]<typename Target>() { uniform::for_each_run(coded, rows, Decoder<Target>()); });
  if (rows.heads * rows.dim % 2 == 0) return true;
  unsigned padding = 0;
  for (std::int64_t token = 1; token <= rows.tokens; ++token)
    padding |= coded.codes[token * coded.code_bytes_per_token - 1] >> 4;
  return padding == 0;
}

}  // namespace sluice::int4::avx2
