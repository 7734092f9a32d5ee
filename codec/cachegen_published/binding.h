// cachegen-published as a codec: see codec/codec.h for the contract and spec.md for the bits.
#pragma once

#include "codec/codec.h"

namespace sluice {

[[nodiscard]] Codec cachegen_published_codec();

namespace cachegen_published {

inline constexpr std::int64_t kGroupTokens = 10;    // the paper's; the first one is the anchor
inline constexpr std::int32_t kAnchorSymbol = 127;  // 8 bits

[[nodiscard]] constexpr std::int64_t num_groups(std::int64_t tokens) {
  return (tokens + kGroupTokens - 1) / kGroupTokens;
}

// The step of a layer's differences, over their typical size.
[[nodiscard]] float relative_step(const SectionContext& context, std::int64_t layer);

// The front of a tensor's payload, as every backend's decoder reads and checks it.
struct TensorHead {
  float step = 0;                     // of the differences
  std::span<const std::byte> scales;  // of the anchors: fp16, [group]
  std::size_t bytes = 0;              // of all that
};
[[nodiscard]] Result<TensorHead> read_head(std::int64_t groups, std::span<const std::byte> payload);

}  // namespace cachegen_published

}  // namespace sluice
