// A tier by name: its clock and its network, together. The only place that knows which tiers there
// are.
// Where in the flow: between the runner and steps 2 and 3.
#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "sim/net/network.h"

namespace sluice {

struct Engine {
  std::unique_ptr<RunnableClock> clock;  // declared first: it outlives the network
  std::unique_ptr<Network> network;
};

// Errors: a tier that this build does not have, or that has no meaning for this network. The
// topology must have passed check_topology().
[[nodiscard]] Result<Engine> make_engine(const std::string& tier, TopologySpec topology,
                                         const TransportSpec& transport);

}  // namespace sluice
