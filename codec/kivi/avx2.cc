// KIVI's loops with AVX2; cpu.cc is their oracle.
#include <algorithm>
#include <cstring>

#include "codec/codable.h"
#include "codec/kivi/kernel.h"
#include "codec/uniform/avx2_rows.h"

namespace sluice::kivi {
namespace {

constexpr std::int64_t kBlock = 16;  // channels of one decoding step

// Eight channels' scales and zero points.
struct Scales8 {
  __m256 scale, zero;
};
Scales8 scales_at(const TokenScales& scales, std::int64_t channel) {
  if (scales.group == 1)
    return {_mm256_loadu_ps(scales.scales + channel), _mm256_loadu_ps(scales.zeros + channel)};
  const std::int64_t g = channel / scales.group;
  return {_mm256_set1_ps(scales.scales[g]), _mm256_set1_ps(scales.zeros[g])};
}

// Eight values to codes, a byte each.
std::uint64_t codes8(const float* values, const Scales8& scales, __m256 code_max) {
  const __m256 shifted = _mm256_sub_ps(_mm256_loadu_ps(values), scales.zero);
  const __m256 code = _mm256_round_ps(_mm256_div_ps(shifted, scales.scale),
                                      _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m256 has_scale = _mm256_cmp_ps(scales.scale, _mm256_setzero_ps(), _CMP_NEQ_OQ);
  const __m256 limited = _mm256_min_ps(_mm256_max_ps(code, _mm256_setzero_ps()), code_max);
  const __m256i wide = _mm256_cvtps_epi32(_mm256_and_ps(limited, has_scale));
  const __m128i halves = sluice::avx2::narrowed(wide);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_packus_epi16(halves, halves)));
}

template <int kBits>
constexpr std::uint64_t kCodeMask = 0x0101010101010101U * ((1U << kBits) - 1);

template <int kBits>
void quantise(const float* values, std::int64_t count, const TokenScales& scales,
              std::uint8_t* codes) {
  const __m256 code_max = _mm256_set1_ps(static_cast<float>((1 << kBits) - 1));
  std::int64_t c = 0;
  for (; c + 8 <= count; c += 8, codes += kBits) {
    const std::uint64_t packed =
        _pext_u64(codes8(values + c, scales_at(scales, c), code_max), kCodeMask<kBits>);
    std::memcpy(codes, &packed, kBits);
  }
  const TokenScales rest{scales.scales + c / scales.group, scales.zeros + c / scales.group,
                         scales.group};
  if (c < count) quantise_token(values + c, count - c, rest, kBits, codes);
}

// The codes of eight channels, from a multiple of eight on: kBits bytes.
template <int kBits>
__m256i codes_at(const std::uint8_t* codes) {
  std::uint32_t word = 0;
  std::memcpy(&word, codes, kBits);
  const __m256i shifts =
      _mm256_mullo_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32(kBits));
  const __m256i shifted = _mm256_srlv_epi32(_mm256_set1_epi32(static_cast<int>(word)), shifts);
  return _mm256_and_si256(shifted, _mm256_set1_epi32((1 << kBits) - 1));
}

template <int kBits>
__m256 values8(const std::uint8_t* codes, const Scales8& scales) {
  const __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(codes_at<kBits>(codes)), scales.scale);
  return _mm256_min_ps(_mm256_add_ps(scales.zero, product), _mm256_set1_ps(kMaxCodable));
}

template <int kBits, typename Target>
class RowDecoder {
 public:
  RowDecoder(const TokenRange& range, const uniform::Rows& rows) : range_(range), rows_(rows) {}

  void run() {
    for (std::int64_t i = 0; i < range_.count; ++i) {
      std::byte* row = rows_.data + (range_.first + i) * rows_.token_bytes;
      for (std::int64_t head = 0; head < rows_.heads; ++head, row += rows_.head_bytes)
        decode_row(head * rows_.dim, row);
      range_.codes += range_.code_bytes;
      range_.scales.scales += range_.scale_step;
      range_.scales.zeros += range_.scale_step;
    }
  }

 private:
  static constexpr std::int64_t kElementBytes = bytes_per_element(Target::kDtype);
  using InCache = uniform::avx2::Target<Target::kDtype, false>;

  void decode_row(std::int64_t channel, std::byte* row) const {
    const std::uint8_t* codes = range_.codes + channel * kBits / 8;
    std::int64_t i = 0;
    for (; i + kBlock <= rows_.dim; i += kBlock, codes += 2 * kBits) {
      uniform::avx2::store16<Target>(
          row + i * kElementBytes, values8<kBits>(codes, scales_at(range_.scales, channel + i)),
          values8<kBits>(codes + kBits, scales_at(range_.scales, channel + i + 8)));
    }
    if (i == rows_.dim) return;
    std::byte last[kBlock * kElementBytes];  // eight channels are left
    const __m256 values = values8<kBits>(codes, scales_at(range_.scales, channel + i));
    uniform::avx2::store16<InCache>(last, values, values);
    std::memcpy(row + i * kElementBytes, last, 8 * kElementBytes);
  }

  TokenRange range_;
  uniform::Rows rows_;
};

}  // namespace

void quantise_token_avx2(const float* values, std::int64_t count, const TokenScales& scales,
                         int bits, std::uint8_t* codes) {
  if (bits == 2) return quantise<2>(values, count, scales, codes);
  quantise<4>(values, count, scales, codes);
}

void dequantise_rows_avx2(const TokenRange& range, const uniform::Rows& rows) {
  uniform::avx2::with_target(rows, [&]<typename Target>() {
    if (range.bits == 2) return RowDecoder<2, Target>(range, rows).run();
    RowDecoder<4, Target>(range, rows).run();
  });
}

}  // namespace sluice::kivi
