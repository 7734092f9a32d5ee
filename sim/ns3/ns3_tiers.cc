#include "sim/ns3/ns3_tiers.h"

#include "base/assert.h"
#include "sim/net/transport/segment.h"
#include "sim/net/transport/windowed_network.h"
#include "sim/ns3/ns3_carrier.h"
#include "sim/ns3/ns3_clock.h"
#include "sim/ns3/tcp_network.h"

namespace sluice {
namespace {

constexpr DataSize kOnePacket = DataSize::bytes(1);  // no segment is smaller than a packet

std::unique_ptr<Network> make_windowed(Clock& ns3_clock, TopologySpec topology,
                                       const TransportSpec& transport, DataSize segment_max) {
  SLUICE_ASSERT(dynamic_cast<Ns3Clock*>(&ns3_clock), "the ns-3 tiers run on ns-3's clock only");
  auto carrier = make_ns3_carrier(topology);
  return std::make_unique<WindowedNetwork>(ns3_clock, std::move(topology), transport,
                                           std::move(carrier), segment_max);
}

}  // namespace

bool ns3_available() {
  return true;
}

std::unique_ptr<RunnableClock> make_ns3_clock() {
  return std::make_unique<Ns3Clock>();
}

std::unique_ptr<Carrier> make_ns3_carrier(const TopologySpec& topology) {
  return std::make_unique<Ns3Carrier>(topology);
}

std::unique_ptr<Network> make_packet_network(Clock& ns3_clock, TopologySpec topology,
                                             const TransportSpec& transport) {
  return make_windowed(ns3_clock, std::move(topology), transport, kOnePacket);
}

std::unique_ptr<Network> make_burst_network(Clock& ns3_clock, TopologySpec topology,
                                            const TransportSpec& transport) {
  return make_windowed(ns3_clock, std::move(topology), transport, kBurstSegment);
}

std::unique_ptr<Network> make_tcp_network(Clock& ns3_clock, TopologySpec topology,
                                          const TransportSpec& transport) {
  SLUICE_ASSERT(dynamic_cast<Ns3Clock*>(&ns3_clock), "the ns-3 tiers run on ns-3's clock only");
  return std::make_unique<TcpNetwork>(ns3_clock, std::move(topology), transport);
}

}  // namespace sluice
