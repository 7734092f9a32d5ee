// Every tier there is, for tests that all must pass.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "base/sim_clock.h"
#include "sim/net/fluid/fluid_network.h"
#include "sim/ns3/ns3_tiers.h"
#include "tests/net/net_fixture.h"

namespace sluice::net_test {

struct TierUnderTest {
  const char* name;
  bool is_there;
  std::unique_ptr<RunnableClock> (*make_clock)();
  std::unique_ptr<Network> (*make_network)(Clock&, TopologySpec, const TransportSpec&);
};

inline std::ostream& operator<<(std::ostream& out, const TierUnderTest& tier) {
  return out << tier.name;
}

inline std::unique_ptr<RunnableClock> make_sim_clock() {
  return std::make_unique<SimClock>();
}
inline std::unique_ptr<Network> make_fluid(Clock& clock, TopologySpec topology,
                                           const TransportSpec& transport) {
  return std::make_unique<FluidNetwork>(clock, std::move(topology), transport);
}

inline std::vector<TierUnderTest> all_tiers() {
  return {{"fluid", true, make_sim_clock, make_fluid},
          {"burst", ns3_available(), make_ns3_clock, make_burst_network},
          {"packet", ns3_available(), make_ns3_clock, make_packet_network}};
}

inline TierUnderTest tier_named(std::string_view name) {
  for (const TierUnderTest& tier : all_tiers()) {
    if (tier.name == name) return tier;
  }
  throw std::invalid_argument("no such tier");
}

// A clock, a network on it, and a diary; taken apart in the right order.
struct Simulation {
  Simulation(const TierUnderTest& tier, TopologySpec topology, const TransportSpec& transport)
      : clock(tier.make_clock()),
        network(tier.make_network(*clock, std::move(topology), transport)) {}
  TransferId start(const Transfer& t) { return network->start(t, diary); }
  Diary::Page run_one(const Transfer& t) {
    const TransferId id = start(t);
    clock->run();
    return diary.of(id);
  }
  std::unique_ptr<RunnableClock> clock;
  std::unique_ptr<Network> network;
  Diary diary{*clock, *network};
};

}  // namespace sluice::net_test
