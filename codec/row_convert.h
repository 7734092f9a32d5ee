// A row of fp16, bf16 or fp32 elements that lie side by side, to fp32 and back.
// Where in the flow: under TensorView::read_token and write_token; a codec whose loops see rows of
// their own may call it directly.
// Surprise: NaNs keep their bits on the way to fp32, where the CPU's own instruction would set the
// quiet bit, so that the backends agree on all 65536 patterns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/backend.h"
#include "codec/dtype.h"

namespace sluice {

// The conversions of one dtype. Rows may be unaligned; num_elems may be 0.
struct RowConvert {
  // Exact.
  void (*to_fp32)(const std::byte* row, std::int64_t num_elems, float* values);
  // To nearest, ties to even: the bits of codec/float16.h.
  void (*from_fp32)(const float* values, std::int64_t num_elems, std::byte* row);
};

[[nodiscard]] RowConvert row_convert(Dtype dtype, Backend backend);

// codable() of codable.h on each value, in place: what lossy codecs code.
void make_codable(std::span<float> values, Backend backend);

}  // namespace sluice
