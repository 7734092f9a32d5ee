#include "emu/link/check_spec.h"

namespace sluice {

Status check_link_spec(const EmulatedLinkSpec& spec) {
  TopologySpec topology{.nodes = {"near", "far"}, .links = {spec.down, spec.up}};
  topology.links[0].name = "down";
  topology.links[0].from = NodeId{1};
  topology.links[0].to = NodeId{0};
  topology.links[1].name = "up";
  topology.links[1].from = NodeId{0};
  topology.links[1].to = NodeId{1};
  for (const LinkSpec& link : topology.links) {
    if (link.capacity.clock == TraceClock::kChunk)
      return error_in(link.name, "its trace is clocked by chunks, packets are not",
                      "use a trace that is clocked by time");
  }
  return check_topology(topology, TransportSpec{});
}

}  // namespace sluice
