// The loops of cachegen-released: one token's channels, of all heads together, to symbols and back.
// Where in the flow: called by binding.cc once per token, and by cachegen-published for its
// anchors; pure, allocates nothing.
// Surprise: the encoder uses the scale as stored, so that both sides agree on every step.
#pragma once

#include <cstdint>
#include <span>

namespace sluice::cachegen_released {

// channels: finite, at most 65504 in magnitude. Writes symbols[channels.size()] in
// [-max_symbol, max_symbol] and returns the token's largest magnitude as fp16 bits, rounded to
// nearest. max_symbol: 1 to 127.
[[nodiscard]] std::uint16_t quantise_token(std::span<const float> channels, std::int32_t max_symbol,
                                           std::span<std::int16_t> symbols);

// channels[c] = symbol * (scale / max_symbol): one fp32 division per token, one fp32 product per
// element. Any symbols are safe; `scale` is finite.
void dequantise_token(std::span<const std::int16_t> symbols, std::int32_t max_symbol,
                      std::uint16_t scale, std::span<float> channels);

}  // namespace sluice::cachegen_released
