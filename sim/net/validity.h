// Where each tier can be believed. What a tier cannot do at all is an Error and nothing runs; what
// it does with less meaning is a sentence for the user beside the result.
// Where in the flow: asked before an engine is made; the sentences go to the terminal and into what
// --validate stores.
// Surprise: both judge the network and the transport alone; whether loads share a link is not known
// here, so a sentence says "loads that share it" and not which.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sim/net/network.h"

namespace sluice {

// Refuses what the tier has no meaning for: another congestion control than it knows, links clocked
// by chunks under TCP, TCP without its handshake, slow start or headers. A tier that is not known
// is refused too. The topology must have passed check_topology().
[[nodiscard]] Status check_tier(const std::string& tier, const TopologySpec& topology,
                                const TransportSpec& transport);

// One sentence for each reason to doubt the tier's answer on this network; none where it is at
// home. The sentences begin with the tier and name the link.
[[nodiscard]] std::vector<std::string> doubts_about(const std::string& tier,
                                                    const TopologySpec& topology,
                                                    const TransportSpec& transport);

}  // namespace sluice
