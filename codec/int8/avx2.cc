#include "codec/int8/avx2.h"

#include "codec/uniform/avx2_quantise.h"
#include "codec/uniform/avx2_rows.h"

namespace sluice::int8::avx2 {
namespace {

constexpr std::int64_t kEncodeBlock = 32;
constexpr std::int64_t kDecodeBlock = 16;

template <typename Target>
class Decoder {
 public:
  static constexpr std::int64_t kElementBytes = bytes_per_element(Target::kDtype);

  void set_scale(float scale) { scale_ = _mm256_set1_ps(scale); }

  void decode(const std::uint8_t* codes, std::int64_t first, std::int64_t num_elems,
              std::byte* row) const {
    const std::uint8_t* from = codes + first;
    std::int64_t i = 0;
    for (; i + kDecodeBlock <= num_elems; i += kDecodeBlock) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
      store16<Target>(row + i * kElementBytes, values(bytes), values(_mm_srli_si128(bytes, 8)));
    }
    if (i == num_elems) return;
    __m128i bytes = _mm_setzero_si128();
    std::memcpy(&bytes, from + i, static_cast<std::size_t>(num_elems - i));
    std::byte last[kDecodeBlock * kElementBytes];
    store16<InCache>(last, values(bytes), values(_mm_srli_si128(bytes, 8)));
    std::memcpy(row + i * kElementBytes, last,
                static_cast<std::size_t>((num_elems - i) * kElementBytes));
  }

 private:
  using InCache = uniform::avx2::Target<Target::kDtype, false>;

  // The low eight codes times the scale.
  [[nodiscard]] __m256 values(__m128i bytes) const {
    return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes)), scale_);
  }
  template <typename To>
  static void store16(std::byte* to, __m256 low, __m256 high) {
    uniform::avx2::store16<To>(to, low, high);
  }

  __m256 scale_ = _mm256_setzero_ps();
};

}  // namespace

void encode_token(const float* channels, std::int64_t num_channels, std::int64_t group,
                  std::uint16_t* scales, std::uint8_t* codes) {
  for (std::int64_t begin = 0; begin < num_channels; begin += group) {
    const std::int64_t left = num_channels - begin;
    const std::int64_t num_values = left < group ? left : group;
    const float* values = channels + begin;
    *scales = uniform::avx2::scale_of(uniform::avx2::max_magnitude(values, num_values), 127.0F);
    const __m256 scale = _mm256_set1_ps(_cvtsh_ss(*scales));
    if (*scales++ == 0) {
      std::memset(codes + begin, 0, static_cast<std::size_t>(num_values));
      continue;
    }
    uniform::avx2::for_each_block<kEncodeBlock>(
        values, num_values, [&](std::int64_t i, const float* block, std::int64_t count) {
          const __m256i bytes = uniform::avx2::codes32(block, scale);
          std::memcpy(codes + begin + i, &bytes, static_cast<std::size_t>(count));
        });
  }
}

bool decode_rows(const uniform::CodedTensor& coded, const uniform::Rows& rows) {
  uniform::avx2::with_target(
      rows, [&]<typename Target>() { uniform::for_each_run(coded, rows, Decoder<Target>()); });
  return true;
}

}  // namespace sluice::int8::avx2
