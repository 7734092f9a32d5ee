#include "sim/net/path.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"
#include "base/random.h"

namespace sluice {
namespace {

Duration propagation(const TopologySpec& topology, const Route& links) {
  Duration sum{};
  for (const LinkId id : links)
    sum += mean_delay(topology.links[static_cast<std::size_t>(id.value)]);
  return sum;
}

std::uint64_t key_of(NodeId from, NodeId to) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(from.value)) << 32) |
         static_cast<std::uint32_t>(to.value);
}

}  // namespace

PathTable::Ends& PathTable::ends(NodeId from, NodeId to) const {
  const auto [found, is_new] = ends_.try_emplace(key_of(from, to));
  Ends& ends = found->second;
  if (is_new) {
    ends.there = finder_.find(from, to);
    ends.back = finder_.find(to, from);
    ends.paths.resize(ends.there.size() * ends.back.size());
  }
  return ends;
}

const Path* PathTable::find(NodeId from, NodeId to, ConnectionGroup group) const {
  Ends& all = ends(from, to);
  if (all.paths.empty()) return nullptr;
  const std::uint64_t seed = topology_->seed;
  const std::size_t there = choose_route(seed, group, from, to, all.there.size());
  const std::size_t back = choose_route(seed, group, to, from, all.back.size());
  std::unique_ptr<Path>& path = all.paths[there * all.back.size() + back];
  if (!path) path = make(all.there[there], all.back[back]);
  return path.get();
}

std::optional<TransferFailure> PathTable::refuse(const Transfer& transfer) const {
  return sluice::refuse(find(transfer.from, transfer.to, transfer.group), transfer);
}

std::optional<TransferFailure> refuse(const Path* path, const Transfer& transfer) {
  if (!path) return TransferFailure::kNoRoute;
  if (path->by_chunk && !transfer.chunk_index) return TransferFailure::kNoChunkIndex;
  return std::nullopt;
}

std::size_t choose_route(std::uint64_t seed, ConnectionGroup group, NodeId from, NodeId to,
                         std::size_t num_routes) {
  if (num_routes == 1) return 0;
  RandomStream hash(RandomStream(seed, "route", key_of(from, to)).next_u64(), "group", group.value);
  return static_cast<std::size_t>(hash.below(num_routes));
}

Route steady_route(const TopologySpec& topology, std::size_t flow) {
  const SteadyFlow& spec = topology.steady_flows[flow];
  std::vector<Route> routes = shortest_routes(topology, spec.from, spec.to);
  SLUICE_ASSERT(!routes.empty(), "a steady flow without a route: check_topology refuses it");
  RandomStream hash(topology.seed, "steady flow", flow);
  return std::move(routes[static_cast<std::size_t>(hash.below(routes.size()))]);
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

std::unique_ptr<Path> PathTable::make(const Route& there, const Route& back) const {
  auto path = std::make_unique<Path>();
  path->number = num_paths_++;
  path->links = there;
  path->back = back;
  path->forward = propagation(*topology_, path->links);
  path->backward = propagation(*topology_, path->back);
  DataSize mtu = DataSize::max();
  for (const Route* way : {&path->links, &path->back}) {
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
