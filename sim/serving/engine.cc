#include "sim/serving/engine.h"

#include <fmt/format.h>

#include "base/sim_clock.h"
#include "sim/net/fluid/fluid_network.h"
#include "sim/ns3/ns3_tiers.h"

namespace sluice {

Result<Engine> make_engine(const std::string& tier, const TopologySpec& topology,
                           const TransportSpec& transport) {
  if (tier == "fluid") {
    Engine engine{std::make_unique<SimClock>(), nullptr};
    engine.network = std::make_unique<FluidNetwork>(*engine.clock, topology, transport);
    return engine;
  }
  if ((tier == "burst" || tier == "packet") && ns3_available()) {
    const auto make_network = tier == "burst" ? make_burst_network : make_packet_network;
    Engine engine{make_ns3_clock(), nullptr};
    engine.network = make_network(*engine.clock, topology, transport);
    return engine;
  }
  return error_in("--tier", fmt::format("this build has no tier `{}`", tier),
                  "use fluid, or install libns3-dev and build again");
}

}  // namespace sluice
