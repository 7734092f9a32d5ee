#include "codec/int8/kernel.h"
#include "codec/uniform/scale.h"

namespace sluice::int8 {

std::int64_t code_bytes(std::int64_t channels) {
  return channels;
}

void encode_token(std::span<const float> channels, std::int64_t group,
                  std::span<std::uint16_t> scales, std::span<std::uint8_t> codes) {
  const auto step = static_cast<std::size_t>(group);
  for (std::size_t g = 0; g < scales.size(); ++g) {
    const std::size_t begin = g * step;
    const std::size_t end = std::min(begin + step, channels.size());
    scales[g] = uniform::scale_of(channels.subspan(begin, end - begin), 127.0F);
    const float scale = fp16_to_fp32(scales[g]);
    for (std::size_t c = begin; c < end; ++c) {
      codes[c] =
          static_cast<std::uint8_t>(static_cast<std::int8_t>(uniform::code_of(channels[c], scale)));
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
      channels[c] = static_cast<float>(static_cast<std::int8_t>(codes[c])) * scale;
    }
  }
  return true;
}

}  // namespace sluice::int8
