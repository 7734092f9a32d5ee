// The loops of cachegen-released: one token's channels, of all heads together, to symbols and back.
// Where in the flow: the encoder calls it once per token, and cachegen-published for its anchors;
// decoders go through codec/dequantise/ with step_of(). Pure, allocates nothing.
// Surprise: the encoder uses the scale as stored, so that both sides agree on every step.
#pragma once

#include <cstdint>
#include <span>

#include "codec/backend.h"
#include "codec/float16.h"
#include "codec/host_device.h"

namespace sluice::cachegen_released {

// channels: finite, at most 65504 in magnitude. Writes symbols[channels.size()] in
// [-max_symbol, max_symbol] and returns the token's largest magnitude as fp16 bits, rounded to
// nearest. max_symbol: 1 to 127.
[[nodiscard]] std::uint16_t quantise_token(std::span<const float> channels, std::int32_t max_symbol,
                                           std::span<std::int16_t> symbols);

// The same with AVX2, to the bit; only where codec/backend.h says so.
using QuantiseToken = std::uint16_t (*)(const float* channels, std::int64_t num_channels,
                                        std::int32_t max_symbol, std::int16_t* symbols);
[[nodiscard]] QuantiseToken quantise_token_of(Backend backend);
#if SLUICE_AVX2
[[nodiscard]] std::uint16_t quantise_token_avx2(const float* channels, std::int64_t num_channels,
                                                std::int32_t max_symbol, std::int16_t* symbols);
#endif

// What one symbol is worth: a channel is symbol * step, one fp32 product. `scale` is finite.
[[nodiscard]] SLUICE_HOST_DEVICE inline float step_of(std::uint16_t scale,
                                                      std::int32_t max_symbol) {
  return fp16_to_fp32(scale) / static_cast<float>(max_symbol);
}

}  // namespace sluice::cachegen_released
