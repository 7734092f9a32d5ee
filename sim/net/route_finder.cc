#include "sim/net/route_finder.h"

namespace sluice {
namespace {

std::size_t index_of(NodeId node) {
  return static_cast<std::size_t>(node.value);
}

}  // namespace

RouteFinder::RouteFinder(const TopologySpec& topology)
    : topology_(&topology), leaving_(topology.nodes.size()), arriving_(topology.nodes.size()) {
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const LinkId id{static_cast<std::int32_t>(i)};
    leaving_[index_of(topology.links[i].from)].push_back(id);
    arriving_[index_of(topology.links[i].to)].push_back(id);
  }
}

// By walking the links backwards.
const RouteFinder::Hops& RouteFinder::hops_to(NodeId to) {
  const auto [found, is_new] = hops_.try_emplace(to.value);
  Hops& hops = found->second;
  if (!is_new) return hops;
  hops.assign(leaving_.size(), kUnreached);
  hops[index_of(to)] = 0;
  std::vector<NodeId> reached{to};
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const NodeId here = reached[i];
    for (const LinkId id : arriving_[index_of(here)]) {
      const NodeId source = topology_->links[static_cast<std::size_t>(id.value)].from;
      if (hops[index_of(source)] != kUnreached) continue;
      hops[index_of(source)] = hops[index_of(here)] + 1;
      reached.push_back(source);
    }
  }
  return hops;
}

// Walks on from `here` along every link that comes one hop nearer.
void RouteFinder::extend(const Hops& hops, NodeId here, NodeId to, Route& route,
                         std::vector<Route>& routes) {
  if (here == to) {
    routes.push_back(route);
    return;
  }
  for (const LinkId id : leaving_[index_of(here)]) {
    if (routes.size() >= kMaxEqualRoutes) return;
    const NodeId next = topology_->links[static_cast<std::size_t>(id.value)].to;
    if (hops[index_of(next)] != hops[index_of(here)] - 1) continue;
    route.push_back(id);
    extend(hops, next, to, route, routes);
    route.pop_back();
  }
}

std::vector<Route> RouteFinder::find(NodeId from, NodeId to) {
  const auto known = [this](NodeId node) {
    return node.value >= 0 && index_of(node) < leaving_.size();
  };
  std::vector<Route> routes;
  if (!known(from) || !known(to) || from == to) return routes;
  const Hops& hops = hops_to(to);
  if (hops[index_of(from)] == kUnreached) return routes;
  Route route;
  extend(hops, from, to, route, routes);
  return routes;
}

}  // namespace sluice
