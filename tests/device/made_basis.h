// A model profile of one layer for the device tests of codecs that use one.
#pragma once

#include <memory>

#include "codec/model_profile/model_profile.h"
#include "codec/tensor_view.h"

namespace sluice {

using ModelProfilePtr = std::shared_ptr<const ModelProfile>;

// Layer 0 alone: means that differ by channel, and a basis of small factors around a strong
// diagonal.
[[nodiscard]] ModelProfilePtr made_profile(BasisBlock block, const TensorShape& key,
                                           const TensorShape& value);

}  // namespace sluice
