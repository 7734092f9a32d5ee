// KIVI's loops: one token's channels to packed codes and back.
// Where in the flow: encode.cc and decode.cc call them token by token, whatever the groups are.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/backend.h"
#include "codec/uniform/rows.h"

namespace sluice::kivi {

// The scales and zero points of a token, widened. Channel c has number c / group: of keys every
// channel has its own (group 1), of values a group of channels shares one (group a multiple of 32).
struct TokenScales {
  const float* scales;
  const float* zeros;
  std::int64_t group;
};

// `bits` is 2 or 4; codes are packed from the lowest bits of a byte up, ceil(count * bits / 8)
// bytes.
using QuantiseToken = void (*)(const float* values, std::int64_t count, const TokenScales& scales,
                               int bits, std::uint8_t* codes);
[[nodiscard]] QuantiseToken quantise_token_of(Backend backend);
void quantise_token(const float* values, std::int64_t count, const TokenScales& scales, int bits,
                    std::uint8_t* codes);

void dequantise_token(const std::uint8_t* codes, std::int64_t count, const TokenScales& scales,
                      int bits, float* values);

// Tokens [first, first + count) of a target with rows. `codes` and `scales` are those of the first
// token; the next token's are `code_bytes` and `scale_step` further on (0: the same scales).
struct TokenRange {
  const std::uint8_t* codes;
  TokenScales scales;
  std::int64_t code_bytes, scale_step;
  std::int64_t first, count;
  int bits;
};

#if SLUICE_AVX2
void quantise_token_avx2(const float* values, std::int64_t count, const TokenScales& scales,
                         int bits, std::uint8_t* codes);
// Only where rows.dim is a multiple of 8; 16 scales and zeros behind the last can be read.
void dequantise_rows_avx2(const TokenRange& range, const uniform::Rows& rows);
#endif

}  // namespace sluice::kivi
