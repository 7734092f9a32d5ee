// What a build without ns-3 answers.
#include "sim/ns3/ns3_tiers.h"

namespace sluice {

bool ns3_available() {
  return false;
}

std::unique_ptr<RunnableClock> make_ns3_clock() {
  return nullptr;
}

std::unique_ptr<Carrier> make_ns3_carrier(const TopologySpec& /*topology*/) {
  return nullptr;
}

std::unique_ptr<Network> make_packet_network(Clock& /*ns3_clock*/, TopologySpec /*topology*/,
                                             const TransportSpec& /*transport*/) {
  return nullptr;
}

std::unique_ptr<Network> make_tcp_network(Clock& /*ns3_clock*/, TopologySpec /*topology*/,
                                          const TransportSpec& /*transport*/) {
  return nullptr;
}

std::unique_ptr<Network> make_burst_network(Clock& /*ns3_clock*/, TopologySpec /*topology*/,
                                            const TransportSpec& /*transport*/) {
  return nullptr;
}

}  // namespace sluice
