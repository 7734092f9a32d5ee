#include "sim/net/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/net/route_finder.h"

namespace sluice {
namespace {

constexpr Duration kDelayMax = std::chrono::minutes{1};
constexpr DataSize kMtuMax = DataSize::bytes(65535);  // the length field of IPv4

bool known(const TopologySpec& topology, NodeId node) {
  return node.value >= 0 && static_cast<std::size_t>(node.value) < topology.nodes.size();
}

Status check_nodes(const TopologySpec& topology) {
  if (topology.nodes.empty())
    return error_in("topology", "there are no nodes", "name at least two");
  std::set<std::string> seen;
  for (const std::string& name : topology.nodes) {
    if (!seen.insert(name).second) {
      return error_in("topology", fmt::format("node '{}' is named twice", name),
                      "give each node its own name");
    }
  }
  if (topology.links.empty())
    return error_in("topology", "there are no links", "give at least one link");
  return {};
}

Status check_link(const TopologySpec& topology, const LinkSpec& link,
                  const TransportSpec& transport) {
  const std::string place = fmt::format("link '{}'", link.name);
  for (const NodeId node : {link.from, link.to}) {
    if (!known(topology, node)) {
      return error_in(place, fmt::format("there is no node {}", node.value),
                      "name the node among the nodes");
    }
  }
  if (link.from == link.to)
    return error_in(place, "it leads from a node to itself", "name two nodes");
  if (link.delay < Duration::zero() || link.delay > kDelayMax) {
    return error_in(place, fmt::format("the delay is {}", to_text(link.delay)), "give 0 s to 60 s");
  }
  if (link.mtu <= transport.header || link.mtu > kMtuMax) {
    return error_in(place,
                    fmt::format("the MTU is {} with headers of {}", to_text(link.mtu),
                                to_text(transport.header)),
                    "give an MTU larger than the header, at most 65535 B");
  }
  if (link.jitter < Duration::zero() || link.jitter > kDelayMax) {
    return error_in(place, fmt::format("the jitter is {}", to_text(link.jitter)),
                    "give 0 s to 60 s");
  }
  if (link.delay_trace) {
    if (Status status = check_delay_trace(*link.delay_trace, place); !status) return status;
  }
  if (Status effects = check_effects(link.queue, link.loss); !effects)
    return error_in(place, effects.error().what, effects.error().fix);
  if (link.trace_offset < Duration::zero()) {
    return error_in(place, "the offset into the trace is negative", "give 0 s or more");
  }
  return check_trace(link.capacity);
}

Status check_steady_flow(const TopologySpec& topology, const SteadyFlow& flow) {
  const std::string place = fmt::format("steady flow '{}'", flow.name);
  const std::vector<Route> routes = shortest_routes(topology, flow.from, flow.to);
  if (routes.empty()) return error_in(place, "there is no route", "name two nodes with a way");
  if (flow.packet <= DataSize::zero() || flow.packet > kMtuMax) {
    return error_in(place, fmt::format("the packet is {}", to_text(flow.packet)),
                    "give 1 B to 65535 B");
  }
  if (flow.trace_offset < Duration::zero())
    return error_in(place, "the offset into the trace is negative", "give 0 s or more");
  if (flow.rate.clock == TraceClock::kChunk)
    return error_in(place, "its rate is clocked by chunks", "give a rate in time");
  for (const Route& route : routes) {
    for (const LinkId id : route) {
      const LinkSpec& link = topology.links[static_cast<std::size_t>(id.value)];
      if (link.capacity.clock == TraceClock::kChunk)
        return error_in(place, fmt::format("link '{}' is clocked by chunks", link.name),
                        "such a link takes the chunks of one load only");
    }
  }
  return check_trace(flow.rate);
}

Status check_transport(const TopologySpec& topology, const TransportSpec& transport) {
  if (transport.header < DataSize::zero()) {
    return error_in("transport", "the header is negative", "give 0 B or more");
  }
  if (transport.initial_window_segments < 1) {
    return error_in("transport", "the initial window has no segments", "give 1 or more");
  }
  for (const LinkSpec& link : topology.links) {
    const DataSize initial = (link.mtu - transport.header) * transport.initial_window_segments;
    if (initial > transport.max_window) {
      return error_in(
          "transport",
          fmt::format("the initial window on link '{}' is {}, above the largest window of {}",
                      link.name, to_text(initial), to_text(transport.max_window)),
          "raise the largest window");
    }
  }
  if (transport.idle_timeout < Duration::zero()) {
    return error_in("transport", "the idle timeout is negative", "give 0 s or more");
  }
  return {};
}

}  // namespace

void add_cable(TopologySpec& topology, LinkSpec forward) {
  LinkSpec back = forward;
  std::swap(back.from, back.to);
  back.name += " (back)";
  topology.links.push_back(std::move(forward));
  topology.links.push_back(std::move(back));
}

Duration mean_delay(const LinkSpec& link) {
  return link.delay_trace ? summarise(*link.delay_trace).mean : link.delay;
}

Status check_topology(const TopologySpec& topology, const TransportSpec& transport) {
  if (Status nodes = check_nodes(topology); !nodes) return nodes;
  for (const LinkSpec& link : topology.links) {
    if (Status status = check_link(topology, link, transport); !status) return status;
  }
  for (const SteadyFlow& flow : topology.steady_flows) {
    if (Status status = check_steady_flow(topology, flow); !status) return status;
  }
  return check_transport(topology, transport);
}

std::vector<Route> shortest_routes(const TopologySpec& topology, NodeId from, NodeId to) {
  return RouteFinder(topology).find(from, to);
}

}  // namespace sluice
