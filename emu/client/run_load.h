// One load from its arrival to its end, on whatever clock, network and GPU.
#pragma once

#include "base/clock.h"
#include "base/result.h"
#include "policies/registry.h"
#include "sim/session/session.h"

namespace sluice {

// Arrives now; given up after `give_up`, and then its record says unfinished. Errors: the policy
// does not take the plan's levels.
[[nodiscard]] Result<LoadRecord> run_load(RunnableClock& clock, Network& network, Gpu& gpu,
                                          const PolicySpec& policy, const LoadPlan& plan,
                                          Duration give_up);

}  // namespace sluice
