// The rule from a channel to its symbol, for the scalar loop and for kernels on a GPU. (AVX2 has
// its own instruction for it and must not include inline functions: cmake/targets.cmake.)
#pragma once

#include <cstdint>

#include "codec/host_device.h"
#include "codec/uniform/scale.h"

namespace sluice::cachegen_released {

// One channel's symbol; `ratio` is max_symbol / scale, the scale not 0. Only a scale that is
// subnormal in fp16 can be short enough for the limits to matter.
[[nodiscard]] SLUICE_HOST_DEVICE inline std::int16_t symbol_of(float channel, float ratio,
                                                               std::int32_t max_symbol) {
  const auto limit = static_cast<float>(max_symbol);
  const float symbol = uniform::round_half_even(channel * ratio);
  return static_cast<std::int16_t>(symbol > limit ? limit : symbol < -limit ? -limit : symbol);
}

}  // namespace sluice::cachegen_released
