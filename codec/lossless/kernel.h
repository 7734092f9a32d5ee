// The rules and loops of lossless: an element's sign and exponent as one symbol, its mantissa as
// low bits, and back.
// Where in the flow: binding.cc codes the symbols with codec/entropy/ and hands decoded blocks to
// merge_block. Surprise: symbols are relative to the usual exponent and sign of their channel, so
// that channels of any size share tables.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/backend.h"
#include "codec/dtype.h"
#include "codec/host_device.h"

namespace sluice::lossless {

// Bits of an element from the top: sign, exponent, mantissa.
struct Format {
  int exponent_bits, mantissa_bits;
  [[nodiscard]] SLUICE_HOST_DEVICE constexpr std::int32_t exponent_mask() const {
    return (1 << exponent_bits) - 1;
  }
};
[[nodiscard]] SLUICE_HOST_DEVICE constexpr Format format_of(Dtype dtype) {
  return dtype == Dtype::kFp16   ? Format{5, 10}
         : dtype == Dtype::kBf16 ? Format{8, 7}
                                 : Format{8, 23};
}

// Distances from a channel's top exponent downwards: 0 to 30 as they are, then the exponent 0
// (zeros and subnormals), then exponents as they are.
inline constexpr std::int32_t kZeroDistance = 31;
inline constexpr std::int32_t kPlainDistance = 32;

// What turns a channel's exponents and signs into symbols.
struct Column {
  std::int16_t top = 0;   // 0 to 255
  std::int16_t flip = 0;  // 0; -1: most elements are negative
};

// The symbol of a sign (0 or 1) and an exponent: the distance, or -1 - distance for the rarer sign.
[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::int16_t to_symbol(std::int32_t sign,
                                                                  std::int32_t exponent,
                                                                  Column column) {
  const std::int32_t below = column.top - exponent;
  const std::int32_t distance = exponent == 0                         ? kZeroDistance
                                : below >= 0 && below < kZeroDistance ? below
                                                                      : kPlainDistance + exponent;
  return static_cast<std::int16_t>(sign != -column.flip ? ~distance : distance);
}

// The inverse, of any symbol: sign << exponent_bits | exponent.
[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::uint32_t to_sign_exponent(std::int16_t symbol,
                                                                          Column column,
                                                                          Format format) {
  const std::int32_t distance = symbol < 0 ? ~symbol : symbol;
  const std::int32_t exponent = distance < kZeroDistance    ? column.top - distance
                                : distance == kZeroDistance ? 0
                                                            : distance - kPlainDistance;
  const bool is_negative = (symbol < 0) != (column.flip != 0);
  return static_cast<std::uint32_t>(is_negative) << format.exponent_bits |
         static_cast<std::uint32_t>(exponent & format.exponent_mask());
}

// How the mantissas of a tensor lie in bytes: the lowest `zeros` bits are 0 in every element and
// not kept; of the rest the low `whole_bytes` as bytes, [token][byte][channel], and the upper
// `extra_bits` (0 to 7) packed behind them, channel after channel.
struct LowBits {
  int zeros = 0, whole_bytes = 0, extra_bits = 0;
  std::int64_t channels = 0;

  [[nodiscard]] SLUICE_HOST_DEVICE std::int64_t extra_at() const { return whole_bytes * channels; }
  [[nodiscard]] SLUICE_HOST_DEVICE std::int64_t bytes_per_token() const {
    return extra_at() + (channels * extra_bits + 7) / 8;
  }
};
[[nodiscard]] constexpr LowBits low_bits(Format format, int zeros, std::int64_t channels) {
  const int kept = format.mantissa_bits - zeros;
  return {.zeros = zeros, .whole_bytes = kept / 8, .extra_bits = kept % 8, .channels = channels};
}

// One token's mantissas into `bytes`, bytes_per_token() zeros before.
void put_low_bits(const LowBits& layout, const std::uint32_t* words, Format format,
                  std::byte* bytes);

// Decoded symbols of neighbouring channels, to elements. Behind the last token's low bits 8 more
// bytes can be read.
struct MergeBlock {
  const std::int16_t* symbols;  // [line][32], the first column that is meant
  std::int64_t lines;
  int columns;                 // 1 to 32
  const std::uint16_t* order;  // which row each line is; null: line i is row i
  const std::int16_t* tops;    // of the first column on; 32 can be read
  const std::int16_t* flips;
  LowBits layout;
  const std::byte* low;  // of row 0
  std::int64_t channel;  // the first
  std::byte* target;     // row 0, first channel
  std::int64_t row_bytes;
  std::int64_t channel_bytes;  // from one channel to the next
  Dtype dtype;
};
using Merge = void (*)(const MergeBlock& block);
[[nodiscard]] Merge merge_of(Backend backend);

void merge_block(const MergeBlock& block);
#if SLUICE_AVX2
void merge_block_avx2(const MergeBlock& block);
#endif

}  // namespace sluice::lossless
