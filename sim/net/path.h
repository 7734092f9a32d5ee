// The way of a transfer: its links there, the links back, and what follows from them.
// Where in the flow: every simulated tier looks a path up when a transfer starts.
#pragma once

#include <memory>
#include <unordered_map>

#include "sim/net/capacity.h"
#include "sim/net/framing.h"
#include "sim/net/network.h"
#include "sim/net/route_finder.h"

namespace sluice {

struct Path {
  Route links;             // of the data
  Route back;              // of requests and acknowledgements
  Duration forward{};      // propagation of the data, one way
  Duration backward{};     // propagation of requests and acknowledgements
  Framing framing;         // by the smallest MTU of the data's links
  bool by_chunk = false;   // some link is clocked by chunks
  std::size_t number = 0;  // in its table: 0, 1, ... as they were found

  [[nodiscard]] Duration round_trip() const { return forward + backward; }
};

// Finds each path once and keeps it. Among equally long routes the group's hash chooses.
class PathTable {
 public:
  // Both must outlive the table.
  PathTable(const TopologySpec& topology, const TransportSpec& transport)
      : topology_(&topology), transport_(&transport), finder_(topology) {}
  // nullptr when there is no way there and back. The pointer stays good as long as the table.
  [[nodiscard]] const Path* find(NodeId from, NodeId to, ConnectionGroup group) const;
  // Why a transfer cannot be; nullopt when it can.
  [[nodiscard]] std::optional<TransferFailure> refuse(const Transfer& transfer) const;

 private:
  // All routes between two nodes, and the paths found among them.
  struct Ends {
    std::vector<Route> there, back;
    std::vector<std::unique_ptr<Path>> paths;  // [there * back.size() + back]
  };
  [[nodiscard]] Ends& ends(NodeId from, NodeId to) const;
  [[nodiscard]] std::unique_ptr<Path> make(const Route& there, const Route& back) const;

  const TopologySpec* topology_;
  const TransportSpec* transport_;
  mutable RouteFinder finder_;
  // Looked up by key only, so that nothing depends on the order of a hash table.
  mutable std::unordered_map<std::uint64_t, Ends> ends_;
  mutable std::size_t num_paths_ = 0;
};

// Why a transfer on this path (nullptr: none) cannot be; nullopt when it can.
[[nodiscard]] std::optional<TransferFailure> refuse(const Path* path, const Transfer& transfer);

// Which of `num_routes` equally long routes a group takes from one node to another (RFC 2992: a
// hash over what names the flow).
[[nodiscard]] std::size_t choose_route(std::uint64_t seed, ConnectionGroup group, NodeId from,
                                       NodeId to, std::size_t num_routes);

// The route of one of the topology's steady flows, by its index; of equally long ones its hash
// chooses, as a group's does.
[[nodiscard]] Route steady_route(const TopologySpec& topology, std::size_t flow);

// The rate of the path's narrowest link at `now`.
[[nodiscard]] DataRate narrowest_rate(const Path& path, const std::vector<LinkCapacity>& capacity,
                                      Instant now, std::optional<std::int64_t> chunk_index);

}  // namespace sluice
