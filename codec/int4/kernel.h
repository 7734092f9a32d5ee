// The loops of int4: one token's channels to codes and back. Pure, allocates nothing.
// Where in the flow: called by binding.cc once per token; cpu.cc is the scalar form and the oracle
// of faster ones.
#pragma once

#include <cstdint>
#include <span>

namespace sluice::int4 {

// Bytes of one token's codes.
[[nodiscard]] std::int64_t code_bytes(std::int64_t channels);

// channels: finite, at most 65504 in magnitude. Group g is channels [g * group, (g + 1) * group),
// the last may be shorter; scales[ceil(channels / group)] are fp16 bits,
// codes[code_bytes(channels)] as in spec.md.
void encode_token(std::span<const float> channels, std::int64_t group,
                  std::span<std::uint16_t> scales, std::span<std::uint8_t> codes);

// channels[c] = code * scale, exact in fp32. Any codes and finite scales are safe; false when
// padding is not zero.
[[nodiscard]] bool decode_token(std::span<const std::uint8_t> codes, std::int64_t group,
                                std::span<const std::uint16_t> scales, std::span<float> channels);

}  // namespace sluice::int4
