// A tier by name: its clock, its network and its GPUs, together. The only place that knows which
// tiers there are. Where in the flow: between the runner and steps 2 and 3.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "sim/net/network.h"
#include "sim/session/gpu.h"

namespace sluice {

struct Engine {
  std::unique_ptr<RunnableClock> clock;  // declared first: it outlives the others
  std::unique_ptr<Network> network;
  std::vector<std::unique_ptr<Gpu>> gpus;  // one for each destination of the scenario, in order
};

// Makes the engine of one stage of a run: for loads that share links and GPUs, or for one load
// alone.
using EngineMaker = std::function<Result<Engine>(
    TopologySpec topology, const TransportSpec& transport, std::size_t num_gpus)>;

// Errors: a tier that this build does not have, or that has no meaning for this network. The
// topology must have passed check_topology().
[[nodiscard]] Result<Engine> make_engine(const std::string& tier, TopologySpec topology,
                                         const TransportSpec& transport, std::size_t num_gpus = 1);

}  // namespace sluice
