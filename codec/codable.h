// What a lossy codec codes for numbers that fit no scale: one rule for every codec and backend.
// Where in the flow: first on every value that a lossy encoder reads, last on sums that a decoder
// makes.
#pragma once

#include "codec/host_device.h"

namespace sluice {

// The largest finite fp16; lossy codecs code nothing beyond it.
inline constexpr float kMaxCodable = 65504.0F;

// What a lossy codec codes in place of x: NaN counts as 0, and infinities and numbers beyond
// +-65504 as +-65504, so that scales fit fp16 and one broken element does not spoil its neighbours
// beyond the shared scale.
[[nodiscard]] SLUICE_HOST_DEVICE inline float codable(float x) {
  if (x != x) return 0.0F;  // NaN
  return x > kMaxCodable ? kMaxCodable : x < -kMaxCodable ? -kMaxCodable : x;
}

}  // namespace sluice
