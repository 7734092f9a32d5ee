// The tiers of our windowed transport over ns-3 nodes, point-to-point devices and channels: packet
// by packet, or in bursts of up to 64 KB.
// Where in the flow: step 2. This header shows nothing of ns-3; without ns-3 the library holds only
// the answer that it is not there.
// Surprise: ns-3's simulator is one per process, so only one of its clocks may live at a time
// (others may follow).
#pragma once

#include <memory>

#include "base/clock.h"
#include "sim/net/transport/carrier.h"

namespace sluice {

// Whether this build has ns-3; when not, the makers below return nullptr.
[[nodiscard]] bool ns3_available();

// ns-3's scheduler as a clock. Its end destroys what ns-3 holds, so it must outlive every network
// on it.
[[nodiscard]] std::unique_ptr<RunnableClock> make_ns3_clock();

// The links of a topology that has passed check_topology, as ns-3 devices on the clock that lives.
[[nodiscard]] std::unique_ptr<Carrier> make_ns3_carrier(const TopologySpec& topology);

// For all: `ns3_clock` must come from make_ns3_clock(); the topology must have passed
// check_topology.

// Packets of the path's MTU, each queued, lost and acknowledged by itself.
[[nodiscard]] std::unique_ptr<Network> make_packet_network(Clock& ns3_clock, TopologySpec topology,
                                                           const TransportSpec& transport);
// Segments of up to 64 KB, which stand for all their packets.
[[nodiscard]] std::unique_ptr<Network> make_burst_network(Clock& ns3_clock, TopologySpec topology,
                                                          const TransportSpec& transport);
// ns-3's own TCP. The transport must have passed check_tier() of sim/net/validity.h.
[[nodiscard]] std::unique_ptr<Network> make_tcp_network(Clock& ns3_clock, TopologySpec topology,
                                                        const TransportSpec& transport);

}  // namespace sluice
