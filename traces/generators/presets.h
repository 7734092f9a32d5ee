// Presets as parameters: what a preset says, and what is given beside its name.
// Where in the flow: between make_spec() and the table in presets.cc.
#pragma once

#include <span>
#include <vector>

#include "traces/generate.h"

namespace sluice {

// The preset's parameters; one that is also in `given` has the value given.
[[nodiscard]] std::vector<ParameterText> with_preset(const LinkPreset& preset,
                                                     std::span<const ParameterText> given);

}  // namespace sluice
