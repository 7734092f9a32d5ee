// Sixteen decoded values to the target's dtype with AVX2, past the caches where rows say so.
// Where in the flow: inside the avx2 sources of int8 and int4.
// Surprise: everything is static, for the reason told in codec/avx2_floats.h.
#pragma once

#include "codec/avx2_floats.h"
#include "codec/uniform/rows.h"

namespace sluice::uniform::avx2 {

// The target's dtype and way of writing, known when the loops are compiled.
template <Dtype kDtypeOf, bool kStreamsOf>
struct Target {
  static constexpr Dtype kDtype = kDtypeOf;
  static constexpr bool kStreams = kStreamsOf;
};

// Streams need a 32-byte aligned address.
template <typename Target>
static inline void store32(std::byte* to, __m256i bytes) {
  auto* address = reinterpret_cast<__m256i*>(to);
  if constexpr (Target::kStreams) {
    _mm256_stream_si256(address, bytes);
  } else {
    _mm256_storeu_si256(address, bytes);
  }
}

// 16 finite floats to 16 halves, in order.
template <Dtype kDtype>
static inline __m256i halves16(__m256 low, __m256 high) {
  if constexpr (kDtype == Dtype::kFp16) {
    return _mm256_set_m128i(sluice::avx2::fp32_to_fp16(high), sluice::avx2::fp32_to_fp16(low));
  } else {
    const __m256i packed =
        _mm256_packus_epi32(sluice::avx2::rounded_to_bf16(_mm256_castps_si256(low)),
                            sluice::avx2::rounded_to_bf16(_mm256_castps_si256(high)));
    return _mm256_permute4x64_epi64(packed, 0xD8);  // packing works within 128-bit halves
  }
}

template <typename Target>
static inline void store16(std::byte* to, __m256 low, __m256 high) {
  if constexpr (Target::kDtype == Dtype::kFp32) {
    store32<Target>(to, _mm256_castps_si256(low));
    store32<Target>(to + 32, _mm256_castps_si256(high));
  } else {
    store32<Target>(to, halves16<Target::kDtype>(low, high));
  }
}

// function.operator()<Target>() for the rows' dtype and way of writing; then all is in memory.
template <typename Function>
static inline void with_target(const Rows& rows, Function function) {
  const auto with_dtype = [&]<bool kStreams>() {
    if (rows.dtype == Dtype::kFp16) {
      function.template operator()<Target<Dtype::kFp16, kStreams>>();
    } else if (rows.dtype == Dtype::kBf16) {
      function.template operator()<Target<Dtype::kBf16, kStreams>>();
    } else {
      function.template operator()<Target<Dtype::kFp32, kStreams>>();
    }
  };
  if (!rows.streams) return with_dtype.template operator()<false>();
  with_dtype.template operator()<true>();
  _mm_sfence();
}

}  // namespace sluice::uniform::avx2
