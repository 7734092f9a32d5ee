// The analysis side of a basis: what encoders multiply by.
#pragma once

#include <vector>

#include "codec/model_profile/model_profile.h"

namespace sluice {

// Of all blocks, one after another, [channel of the block, coefficient]. A basis that cannot be
// inverted gives numbers that are not finite, never a crash; encoders then code 0.
[[nodiscard]] std::vector<float> inverse_of(const LayerProfile& layer);

}  // namespace sluice
