// Whether a tier can run a scenario, and what to doubt of its answer there.
// Where in the flow: asked by the program before a campaign; sim/net/validity.h judges.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.h"

namespace sluice {

// The network of the first replicate, judged. Errors: those of check_topology and check_tier. Of
// many alike links a few are named and the rest counted.
[[nodiscard]] Result<std::vector<std::string>> tier_doubts(const Scenario& scenario,
                                                           const std::string& tier);

}  // namespace sluice
