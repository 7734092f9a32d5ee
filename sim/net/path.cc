#include "sim/net/path.h"

#include <algorithm>

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
