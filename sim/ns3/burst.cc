#include "sim/ns3/burst.h"

#include "base/assert.h"
#include "sim/net/transport/windowed_network.h"
#include "sim/ns3/ns3_carrier.h"
#include "sim/ns3/ns3_clock.h"

namespace sluice {
namespace {

constexpr DataSize kSegmentMax = DataSize::bytes(64 << 10);

}  // namespace

bool burst_tier_available() {
  return true;
}

std::unique_ptr<RunnableClock> make_ns3_clock() {
  return std::make_unique<Ns3Clock>();
}

std::unique_ptr<Network> make_burst_network(Clock& ns3_clock, TopologySpec topology,
                                            const TransportSpec& transport) {
  SLUICE_ASSERT(dynamic_cast<Ns3Clock*>(&ns3_clock), "the burst tier runs on ns-3's clock only");
  auto carrier = std::make_unique<Ns3Carrier>(topology);
  return std::make_unique<WindowedNetwork>(ns3_clock, std::move(topology), transport,
                                           std::move(carrier), kSegmentMax);
}

}  // namespace sluice
