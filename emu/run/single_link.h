// Which scenarios can be emulated: those of one cable with nothing else on it.
#pragma once

#include "emu/link/emulated_link.h"
#include "sim/scenario/scenario.h"

namespace sluice {

// Refuses, with the scenario's name: several cables, cross traffic, loads that find chunks
// resident from earlier ones, transport settings that no kernel offers.
[[nodiscard]] Status check_emulatable(const Scenario& scenario);

// The cable of a run's topology: data go down, requests up. `topology` is of a scenario that
// passed.
[[nodiscard]] EmulatedLinkSpec emulated_link_of(const TopologySpec& topology);

}  // namespace sluice
