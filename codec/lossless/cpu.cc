#include <cstring>

#include "codec/lossless/kernel.h"

namespace sluice::lossless {
namespace {

constexpr int kBlockColumns = 32;

std::uint32_t byte_at(const std::byte* bytes, std::int64_t i) {
  return std::to_integer<std::uint32_t>(bytes[i]);
}

// The mantissa of one channel of a token whose low bits start at `bytes`.
std::uint32_t mantissa_at(const LowBits& layout, const std::byte* bytes, std::int64_t channel) {
  std::uint32_t kept = 0;
  if (layout.extra_bits > 0) {
    const std::int64_t bit = channel * layout.extra_bits;
    const std::byte* from = bytes + layout.extra_at() + bit / 8;
    std::uint32_t window = byte_at(from, 0);
    if (bit % 8 + layout.extra_bits > 8) window |= byte_at(from, 1) << 8;
    kept = window >> (bit % 8) & ((1U << layout.extra_bits) - 1);
  }
  for (int k = layout.whole_bytes - 1; k >= 0; --k)
    kept = kept << 8 | byte_at(bytes, k * layout.channels + channel);
  return kept << layout.zeros;
}

void store(std::uint32_t word, Dtype dtype, std::byte* to) {
  std::memcpy(to, &word, static_cast<std::size_t>(bytes_per_element(dtype)));  // little-endian
}

}  // namespace

void put_low_bits(const LowBits& layout, const std::uint32_t* words, Format format,
                  std::byte* bytes) {
  const std::uint32_t mask = (1U << format.mantissa_bits) - 1;
  for (std::int64_t channel = 0; channel < layout.channels; ++channel) {
    std::uint32_t kept = (words[channel] & mask) >> layout.zeros;
    for (int k = 0; k < layout.whole_bytes; ++k, kept >>= 8)
      bytes[k * layout.channels + channel] = static_cast<std::byte>(kept & 0xFF);
    if (layout.extra_bits == 0) continue;
    const std::int64_t bit = channel * layout.extra_bits;
    std::byte* to = bytes + layout.extra_at() + bit / 8;
    const std::uint32_t window = kept << (bit % 8);
    to[0] |= static_cast<std::byte>(window & 0xFF);
    if (window > 0xFF) to[1] |= static_cast<std::byte>(window >> 8);
  }
}

void merge_block(const MergeBlock& block) {
  const Format format = format_of(block.dtype);
  const std::int64_t low_stride = block.layout.bytes_per_token();
  for (std::int64_t line = 0; line < block.lines; ++line) {
    const std::int64_t row = block.order == nullptr ? line : block.order[line];
    const std::int16_t* symbols = block.symbols + line * kBlockColumns;
    const std::byte* low = block.low + row * low_stride;
    std::byte* to = block.target + row * block.row_bytes;
    for (int i = 0; i < block.columns; ++i) {
      const Column column{block.tops[i], block.flips[i]};
      const std::uint32_t upper = to_sign_exponent(symbols[i], column, format);
      const std::uint32_t mantissa = mantissa_at(block.layout, low, block.channel + i);
      store(upper << format.mantissa_bits | mantissa, block.dtype, to + i * block.channel_bytes);
    }
  }
}

Merge merge_of(Backend backend) {
#if SLUICE_AVX2
  if (backend == Backend::kAvx2) return merge_block_avx2;
#endif
  (void)backend;
  return merge_block;
}

}  // namespace sluice::lossless
