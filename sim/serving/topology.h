// From a scenario's nodes and cables, and what a replicate drew, to the network's own terms.
// Where in the flow: between the draws and the network contract (2).
#pragma once

#include "sim/net/network.h"
#include "sim/serving/draws.h"

namespace sluice {

// Which loads share a clock and a network: all of a replicate, or one that is isolated.
struct StageKey {
  std::int64_t replicate = 0;
  std::int64_t first_load = 0;
};

[[nodiscard]] TopologySpec make_topology(const Scenario& scenario, const ReplicateDraws& draws,
                                         StageKey stage);

[[nodiscard]] inline NodeId node_id(NodeIndex node) {
  return NodeId{static_cast<std::int32_t>(node)};
}

// The links of the main kind, in the direction of the contexts.
[[nodiscard]] std::vector<LinkId> main_links(const Scenario& scenario);

// A stream for one purpose of one stage.
[[nodiscard]] RandomStream stage_stream(const Scenario& scenario, StageKey stage,
                                        std::string_view purpose, std::uint64_t index);

// Different hosts where the ends are open.
struct DrawnEnds {
  NodeId from, to;
};
[[nodiscard]] DrawnEnds draw_ends(const TopologySetting& topology, const CrossTrafficEnds& ends,
                                  RandomStream& random);

}  // namespace sluice
