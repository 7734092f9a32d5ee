#include "emu/run/single_link.h"

#include <fmt/format.h>

namespace sluice {
namespace {

Error not_emulated(const Scenario& s, const std::string& why) {
  return error_in(s.title(), "cannot be emulated: " + why, "simulate it");
}

}  // namespace

Status check_emulatable(const Scenario& s) {
  if (s.topology.cables.size() != 1)
    return not_emulated(s, fmt::format("it has {} cables, a link is emulated between two ends",
                                       s.topology.cables.size()));
  if (!s.cross_traffic.empty()) return not_emulated(s, "cross traffic shares its link");
  if (s.workload.prefix_cache)
    return not_emulated(s, "loads find chunks that earlier ones left in the prefix cache");
  if (s.topology.main_link().chunk_clocked())
    return not_emulated(s, "the rate of its link belongs to the chunk, not to the time");
  const TransportSpec& t = s.transport;
  if (!t.handshake || !t.slow_start || !t.count_headers)
    return not_emulated(s,
                        "its transport has no handshake, slow start or headers; a kernel's does");
  if (!t.hystart) return not_emulated(s, "its transport has no HyStart; a kernel's CUBIC does");
  if (t.congestion == CongestionControl::kDctcp)
    return not_emulated(s, "DCTCP needs a queue that marks");
  return {};
}

EmulatedLinkSpec emulated_link_of(const TopologySpec& topology) {
  return {.down = topology.links[0], .up = topology.links[1], .seed = topology.seed};
}

}  // namespace sluice
