// A model profile from a safetensors file (README.md has the format), every shape checked.
#pragma once

#include "base/result.h"
#include "codec/model_profile/model_profile.h"
#include "codec/safetensors/safetensors.h"

namespace sluice {

// Without name, hash and inverses, which are the caller's.
[[nodiscard]] Result<ModelProfile> parse_model_profile(const SafetensorsFile& file);

}  // namespace sluice
