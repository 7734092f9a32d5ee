// The loops of cachegen-published: differences of a token to its group's anchor.
// Where in the flow: called by the encoder once per token that is no anchor; pure, allocates
// nothing. Anchors go through cachegen_released's loops with 127 steps either way, decoders
// through codec/dequantise/.
#pragma once

#include <cstdint>
#include <span>

#include "codec/host_device.h"
#include "codec/uniform/scale.h"

namespace sluice::cachegen_published {

// Root mean square of channels - anchor, in fp64, summed in channel order. At least one channel.
[[nodiscard]] double delta_rms(std::span<const float> channels, std::span<const float> anchor);

// symbols[c] = (channels[c] - anchor[c]) / step, to the nearest integer, ties to even, within
// +-32767. All finite, step > 0; anchor as decoded.
void quantise_delta(std::span<const float> channels, std::span<const float> anchor, float step,
                    std::span<std::int16_t> symbols);

[[nodiscard]] SLUICE_HOST_DEVICE inline std::int16_t delta_symbol(float channel, float anchor,
                                                                  float step) {
  const float steps = (channel - anchor) / step;
  const float limited = steps < -32767.0F ? -32767.0F : steps > 32767.0F ? 32767.0F : steps;
  return static_cast<std::int16_t>(uniform::round_half_even(limited));
}

}  // namespace sluice::cachegen_published
