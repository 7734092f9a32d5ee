// The way of a transfer: its links there, the links back, and what follows from them.
// Where in the flow: every simulated tier looks a path up when a transfer starts.
#pragma once

#include <map>
#include <memory>

#include "sim/net/capacity.h"
#include "sim/net/framing.h"
#include "sim/net/network.h"

namespace sluice {

struct Path {
  std::vector<LinkId> links;  // of the data, in order
  std::vector<LinkId> back;   // of requests and acknowledgements
  Duration forward{};         // propagation of the data, one way
  Duration backward{};        // propagation of requests and acknowledgements
  Framing framing;            // by the smallest MTU of the data's links
  bool by_chunk = false;      // some link is clocked by chunks

  [[nodiscard]] Duration round_trip() const { return forward + backward; }
};

// Finds each path once and keeps it.
class PathTable {
 public:
  // Both must outlive the table.
  PathTable(const TopologySpec& topology, const TransportSpec& transport)
      : topology_(&topology), transport_(&transport) {}
  // nullptr when there is no way there and back. The pointer stays good as long as the table.
  [[nodiscard]] const Path* find(NodeId from, NodeId to) const;
  // Why a transfer cannot be; nullopt when it can.
  [[nodiscard]] std::optional<TransferFailure> refuse(const Transfer& transfer) const;

 private:
  [[nodiscard]] std::unique_ptr<Path> make(NodeId from, NodeId to) const;

  const TopologySpec* topology_;
  const TransportSpec* transport_;
  mutable std::map<std::pair<NodeId, NodeId>, std::unique_ptr<Path>> paths_;
};

// The rate of the path's narrowest link at `now`.
[[nodiscard]] DataRate narrowest_rate(const Path& path, const std::vector<LinkCapacity>& capacity,
                                      Instant now, std::optional<std::int64_t> chunk_index);

}  // namespace sluice
