#include "sim/net/path.h"

#include <algorithm>
#include <limits>

namespace sluice {
namespace {

Duration propagation(const TopologySpec& topology, const std::vector<LinkId>& links) {
  Duration sum{};
  for (const LinkId id : links) sum += topology.links[static_cast<std::size_t>(id.value)].delay;
  return sum;
}

}  // namespace

const Path* PathTable::find(NodeId from, NodeId to) const {
  const auto [found, is_new] = paths_.try_emplace({from, to});
  if (is_new) found->second = make(from, to);
  return found->second.get();
}

std::optional<TransferFailure> PathTable::refuse(const Transfer& transfer) const {
  const Path* path = find(transfer.from, transfer.to);
  if (!path) return TransferFailure::kNoRoute;
  if (path->by_chunk && !transfer.chunk_index) return TransferFailure::kNoChunkIndex;
  return std::nullopt;
}

DataRate narrowest_rate(const Path& path, const std::vector<LinkCapacity>& capacity, Instant now,
                        std::optional<std::int64_t> chunk_index) {
  DataRate narrowest = DataRate::bits_per_sec(std::numeric_limits<std::int64_t>::max());
  for (const LinkId id : path.links) {
    narrowest =
        std::min(narrowest, capacity[static_cast<std::size_t>(id.value)].rate(now, chunk_index));
  }
  return narrowest;
}

std::unique_ptr<Path> PathTable::make(NodeId from, NodeId to) const {
  auto path = std::make_unique<Path>();
  path->links = shortest_route(*topology_, from, to);
  path->back = shortest_route(*topology_, to, from);
  if (path->links.empty() || path->back.empty()) return nullptr;
  path->forward = propagation(*topology_, path->links);
  path->backward = propagation(*topology_, path->back);
  DataSize mtu = DataSize::max();
  for (const std::vector<LinkId>* way : {&path->links, &path->back}) {
    for (const LinkId id : *way) {
      const LinkSpec& link = topology_->links[static_cast<std::size_t>(id.value)];
      path->by_chunk = path->by_chunk || link.capacity.clock == TraceClock::kChunk;
      if (way == &path->links) mtu = std::min(mtu, link.mtu);
    }
  }
  path->framing.payload = mtu - transport_->header;
  path->framing.header = transport_->count_headers ? transport_->header : DataSize::zero();
  return path;
}

}  // namespace sluice
