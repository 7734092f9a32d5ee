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

inline TransportSpec as_it_is(TransportSpec transport) {
  return transport;
}
// A real TCP cannot leave these out.
inline TransportSpec as_tcp(TransportSpec transport) {
  transport.handshake = transport.slow_start = transport.count_headers = true;
  return transport;
}

struct TierUnderTest {
  const char* name;
  bool is_there;
  std::unique_ptr<RunnableClock> (*make_clock)();
  std::unique_ptr<Network> (*make_network)(Clock&, TopologySpec, const TransportSpec&);
  // Where a tier differs by right.
  TransportSpec (*nearest)(TransportSpec) = as_it_is;  // the transport that it can do
  bool knows_chunks = true;                            // or refuses links clocked by chunks
  DataSize beside_data_max = DataSize::bytes(52);      // of a connection, on the way of the data
  Duration after_outage_max = 300ms;                   // until 2 MB at 100 Mbit/s are there
  bool is_fast = true;                                 // or takes a tenth of the work in tests
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
          {"packet", ns3_available(), make_ns3_clock, make_packet_network},
          // The answer to a SYN is 20 + 36 bytes, a request is acknowledged with 52; an outage
          // looks like loss, so much is sent twice.
          {"tcp", ns3_available(), make_ns3_clock, make_tcp_network, as_tcp, false,
           DataSize::bytes(56 + 52), 400ms, false}};
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
        network(tier.make_network(*clock, std::move(topology), tier.nearest(transport))) {}
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
