// What a user should know before believing the numbers: of the files that are replayed, and of the
// tiers on this network. On stderr.
#pragma once

#include "sim/scenario/scenario.h"

namespace sluice {

void print_trace_notes(const Scenario& scenario);

// Errors: a tier that cannot run the scenario.
[[nodiscard]] Status print_tier_notes(const Scenario& scenario);

// Takes the tiers out that cannot run the scenario, and says why.
void drop_unable_tiers(Scenario& scenario);

}  // namespace sluice
