// int8's loops with AVX2; cpu.cc is their oracle. Plain pointers: see codec/avx2_floats.h.
#pragma once

#include <cstdint>

#include "codec/uniform/rows.h"

namespace sluice::int8::avx2 {

// As encode_token() of kernel.h.
void encode_token(const float* channels, std::int64_t num_channels, std::int64_t group,
                  std::uint16_t* scales, std::uint8_t* codes);

// Every code of a tensor to its element in `rows`. Any codes and finite scales are safe.
bool decode_rows(const uniform::CodedTensor& coded, const uniform::Rows& rows);

}  // namespace sluice::int8::avx2
