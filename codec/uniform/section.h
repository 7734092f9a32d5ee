// The section layout that int8 and int4 share: per tensor all scales, then all codes, token by
// token.
// Where in the flow: their bindings call it with the kernels of their width.
#pragma once

#include <cstdint>
#include <span>

#include "codec/codec.h"
#include "codec/uniform/rows.h"

namespace sluice::uniform {

// What differs between the widths: the scalar loops, one token at a time, and those of AVX2.
struct Width {
  // Bytes of one token's codes.
  std::int64_t (*code_bytes)(std::int64_t channels);
  // channels -> scales[ceil(channels / group)], codes[code_bytes(channels)].
  void (*encode_token)(std::span<const float> channels, std::int64_t group,
                       std::span<std::uint16_t> scales, std::span<std::uint8_t> codes);
  // The inverse; false when the codes are not what an encoder writes.
  bool (*decode_token)(std::span<const std::uint8_t> codes, std::int64_t group,
                       std::span<const std::uint16_t> scales, std::span<float> channels);

  // The same by plain pointers; null where AVX2 is not compiled in.
  void (*encode_token_avx2)(const float* channels, std::int64_t num_channels, std::int64_t group,
                            std::uint16_t* scales, std::uint8_t* codes) = nullptr;
  // A whole tensor whose strides.dim is 1, straight to its dtype.
  bool (*decode_rows_avx2)(const CodedTensor& coded, const Rows& rows) = nullptr;
};

// The extent of one tensor in the payload: [token, group] scales, then [token, channel] codes.
struct SectionLayout {
  std::int64_t channels, tokens, group, scales_per_token, code_bytes_per_token;
  [[nodiscard]] std::int64_t scale_bytes() const {
    return tokens * scales_per_token * static_cast<std::int64_t>(sizeof(std::uint16_t));
  }
  [[nodiscard]] std::int64_t code_bytes() const { return tokens * code_bytes_per_token; }
  [[nodiscard]] std::int64_t bytes() const { return scale_bytes() + code_bytes(); }
};
[[nodiscard]] SectionLayout layout_of(const Width& width, const SectionContext& context,
                                      const TensorShape& shape);

// What a decoder says of a scale that no encoder writes, and of padding that is not zero.
[[nodiscard]] Error scale_error(std::uint16_t fp16);
[[nodiscard]] Error padding_error();

// The levels of both codecs, in their order: a scale per 64 channels, or one per token over all
// heads.
[[nodiscard]] std::vector<CodecLevelInfo> levels();

[[nodiscard]] EncodedSection encode(const Width& width, const SectionContext& context,
                                    std::span<const SectionTensor> tensors);
[[nodiscard]] Status decode(const Width& width, const SectionContext& context,
                            std::span<const std::byte> payload,
                            std::span<const MutableSectionTensor> tensors);

}  // namespace sluice::uniform
