// The section layout that int8 and int4 share: per tensor all scales, then all codes, token by
// token.
// Where in the flow: their bindings call it with the kernels of their width.
#pragma once

#include <cstdint>
#include <span>

#include "codec/codec.h"

namespace sluice::uniform {

// What differs between the widths.
struct Width {
  // Bytes of one token's codes.
  std::int64_t (*code_bytes)(std::int64_t channels);
  // channels -> scales[ceil(channels / group)], codes[code_bytes(channels)].
  void (*encode_token)(std::span<const float> channels, std::int64_t group,
                       std::span<std::uint16_t> scales, std::span<std::uint8_t> codes);
  // The inverse; false when the codes are not what an encoder writes.
  bool (*decode_token)(std::span<const std::uint8_t> codes, std::int64_t group,
                       std::span<const std::uint16_t> scales, std::span<float> channels);
};

// The levels of both codecs, in their order: a scale per 64 channels, or one per token over all
// heads.
[[nodiscard]] std::vector<CodecLevelInfo> levels();

[[nodiscard]] EncodedSection encode(const Width& width, const SectionContext& context,
                                    std::span<const SectionTensor> tensors);
[[nodiscard]] Status decode(const Width& width, const SectionContext& context,
                            std::span<const std::byte> payload,
                            std::span<const MutableSectionTensor> tensors);

}  // namespace sluice::uniform
