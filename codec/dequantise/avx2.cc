// Whole blocks of 32 columns; narrower ones are rare (odd head sizes) and left to the scalar loop.
#include "codec/avx2_floats.h"
#include "codec/codable.h"
#include "codec/dequantise/kernel.h"

namespace sluice::dequantise {
namespace {

template <bool kStreams>
void store32(std::byte* to, __m256i bytes) {
  auto* const address = reinterpret_cast<__m256i*>(to);
  if constexpr (kStreams) {
    _mm256_stream_si256(address, bytes);
  } else {
    _mm256_storeu_si256(address, bytes);
  }
}

// Eight symbols of a row times its step.
__m256 products(const std::int16_t* symbols, __m256 step) {
  const __m128i eight = _mm_loadu_si128(reinterpret_cast<const __m128i*>(symbols));
  return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(eight)), step);
}

// codable() of finite numbers and infinities.
__m256 limited(__m256 values) {
  const __m256 most = _mm256_set1_ps(kMaxCodable);
  return _mm256_max_ps(_mm256_min_ps(values, most), _mm256_sub_ps(_mm256_setzero_ps(), most));
}

template <Dtype kDtype, bool kStreams>
void store16(std::byte* to, __m256 low, __m256 high) {
  if constexpr (kDtype == Dtype::kFp32) {
    store32<kStreams>(to, _mm256_castps_si256(low));
    store32<kStreams>(to + 32, _mm256_castps_si256(high));
  } else if constexpr (kDtype == Dtype::kFp16) {
    store32<kStreams>(to, _mm256_set_m128i(avx2::fp32_to_fp16(high), avx2::fp32_to_fp16(low)));
  } else {
    store32<kStreams>(to, _mm256_set_m128i(avx2::fp32_to_bf16(high), avx2::fp32_to_bf16(low)));
  }
}

template <Dtype kDtype, bool kHasBases, bool kStreams>
void put_block(const Block& block) {
  for (std::int64_t line = 0; line < block.lines; ++line) {
    const std::int64_t row = block.order == nullptr ? line : block.order[line];
    const std::int16_t* const symbols = block.symbols + line * kBlockColumns;
    const __m256 step = _mm256_set1_ps(block.steps[row]);
    std::byte* const to = block.rows[row] + block.offset;
    for (int column = 0; column < kBlockColumns; column += 16) {
      __m256 low = products(symbols + column, step);
      __m256 high = products(symbols + column + 8, step);
      if constexpr (kHasBases) {
        const float* const bases = block.bases[row] + block.base_column + column;
        low = limited(_mm256_add_ps(_mm256_loadu_ps(bases), low));
        high = limited(_mm256_add_ps(_mm256_loadu_ps(bases + 8), high));
      }
      store16<kDtype, kStreams>(to + column * bytes_per_element(kDtype), low, high);
    }
  }
}

template <Dtype kDtype, bool kHasBases>
void put_block_of(const Block& block) {
  if (!block.streams) return put_block<kDtype, kHasBases, false>(block);
  put_block<kDtype, kHasBases, true>(block);
  _mm_sfence();
}

template <Dtype kDtype>
void put_block_of(const Block& block) {
  if (block.bases == nullptr) return put_block_of<kDtype, false>(block);
  put_block_of<kDtype, true>(block);
}

}  // namespace

void dequantise_block_avx2(const Block& block) {
  if (block.columns != kBlockColumns) return dequantise_block_scalar(block);
  switch (block.dtype) {
    case Dtype::kFp16:
      return put_block_of<Dtype::kFp16>(block);
    case Dtype::kBf16:
      return put_block_of<Dtype::kBf16>(block);
    case Dtype::kFp32:
      return put_block_of<Dtype::kFp32>(block);
  }
}

}  // namespace sluice::dequantise
