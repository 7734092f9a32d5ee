// The AVX2 forms of codec/row_convert.h; called only by row_convert.cc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice::avx2 {

void fp16_to_fp32(const std::byte* row, std::int64_t num_elems, float* values);
void fp32_to_fp16(const float* values, std::int64_t num_elems, std::byte* row);
void bf16_to_fp32(const std::byte* row, std::int64_t num_elems, float* values);
void fp32_to_bf16(const float* values, std::int64_t num_elems, std::byte* row);
void make_codable(float* values, std::int64_t num_elems);

}  // namespace sluice::avx2
