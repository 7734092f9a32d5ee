// Shortest routes on one topology, found fast for many pairs of nodes.
// Where in the flow: under the path table of every simulated tier, and shortest_routes().
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/net/network.h"

namespace sluice {

class RouteFinder {
 public:
  // The topology must outlive it.
  explicit RouteFinder(const TopologySpec& topology);
  // As shortest_routes().
  [[nodiscard]] std::vector<Route> find(NodeId from, NodeId to);

 private:
  using Hops = std::vector<std::int32_t>;  // [node]; kUnreached where there is no way
  static constexpr std::int32_t kUnreached = -1;

  [[nodiscard]] const Hops& hops_to(NodeId to);
  void extend(const Hops& hops, NodeId here, NodeId to, Route& route, std::vector<Route>& routes);

  const TopologySpec* topology_;
  std::vector<std::vector<LinkId>> leaving_, arriving_;  // [node], in the order of their ids
  std::unordered_map<std::int32_t, Hops> hops_;          // by destination; looked up only
};

}  // namespace sluice
