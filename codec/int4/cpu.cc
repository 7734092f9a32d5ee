#include "codec/int4/kernel.h"
#include "codec/uniform/scale.h"

namespace sluice::int4 {
namespace {

// Two's complement in four bits: even channels in the low half of a byte, odd ones in the high
// half.
int shift_of(std::size_t channel) {
  return channel % 2 == 0 ? 0 : 4;
}

float value_of(std::uint8_t nibble) {
  return static_cast<float>(static_cast<int>(nibble ^ 8U) - 8);
}

}  // namespace

std::int64_t code_bytes(std::int64_t channels) {
  return (channels + 1) / 2;
}

void encode_token(std::span<const float> channels, std::int64_t group,
                  std::span<std::uint16_t> scales, std::span<std::uint8_t> codes) {
  const auto step = static_cast<std::size_t>(group);
  for (std::uint8_t& pair : codes) pair = 0;
  for (std::size_t g = 0; g < scales.size(); ++g) {
    const std::size_t begin = g * step;
    const std::size_t end = std::min(begin + step, channels.size());
    scales[g] = uniform::scale_of(channels.subspan(begin, end - begin), 7.0F);
    const float scale = fp16_to_fp32(scales[g]);
    for (std::size_t c = begin; c < end; ++c) {
      const auto nibble =
          static_cast<unsigned>(static_cast<int>(uniform::code_of(channels[c], scale))) & 0xFU;
      codes[c / 2] = static_cast<std::uint8_t>(codes[c / 2] | nibble << shift_of(c));
    }
  }
}

bool decode_token(std::span<const std::uint8_t> codes, std::int64_t group,
                  std::span<const std::uint16_t> scales, std::span<float> channels) {
  const auto step = static_cast<std::size_t>(group);
  for (std::size_t g = 0; g < scales.size(); ++g) {
    const float scale = fp16_to_fp32(scales[g]);
    const std::size_t end = std::min((g + 1) * step, channels.size());
    for (std::size_t c = g * step; c < end; ++c) {
      channels[c] = value_of(static_cast<std::uint8_t>(codes[c / 2] >> shift_of(c) & 0xF)) * scale;
    }
  }
  return channels.size() % 2 == 0 || codes.back() >> 4 == 0;
}

}  // namespace sluice::int4
