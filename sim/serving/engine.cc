#include "sim/serving/engine.h"

#include <fmt/format.h>

#include "base/sim_clock.h"
#include "sim/net/fluid/fluid_network.h"
#include "sim/net/validity.h"
#include "sim/ns3/ns3_tiers.h"
#include "sim/session/sim_gpu.h"

namespace sluice {
namespace {

struct Tier {
  const char* name;
  bool is_there;
  std::unique_ptr<RunnableClock> (*make_clock)();
  std::unique_ptr<Network> (*make_network)(Clock&, TopologySpec, const TransportSpec&);
};

std::unique_ptr<RunnableClock> make_sim_clock() {
  return std::make_unique<SimClock>();
}

std::unique_ptr<Network> make_fluid_network(Clock& clock, TopologySpec topology,
                                            const TransportSpec& transport) {
  return std::make_unique<FluidNetwork>(clock, std::move(topology), transport);
}

}  // namespace

Result<Engine> make_engine(const std::string& tier, TopologySpec topology,
                           const TransportSpec& transport, std::size_t num_gpus) {
  const Tier tiers[] = {{"fluid", true, make_sim_clock, make_fluid_network},
                        {"burst", ns3_available(), make_ns3_clock, make_burst_network},
                        {"packet", ns3_available(), make_ns3_clock, make_packet_network},
                        {"tcp", ns3_available(), make_ns3_clock, make_tcp_network}};
  for (const Tier& known : tiers) {
    if (tier != known.name || !known.is_there) continue;
    if (Status able = check_tier(tier, topology, transport); !able) return able.error();
    Engine engine{known.make_clock(), nullptr, {}};
    engine.network = known.make_network(*engine.clock, std::move(topology), transport);
    for (std::size_t i = 0; i < num_gpus; ++i)
      engine.gpus.push_back(std::make_unique<SimGpu>(*engine.clock));
    return engine;
  }
  return error_in("--tier", fmt::format("this build has no tier `{}`", tier),
                  "use fluid, or install libns3-dev and build again");
}

}  // namespace sluice
