#include "sim/scenario/topology_presets.h"

#include <fmt/format.h>

#include <array>

#include "sim/scenario/link_fields.h"
#include "sim/scenario/topology_fields.h"

namespace sluice {
namespace {

constexpr std::int64_t kMaxUsers = 1024, kMaxLeaves = 128, kMaxSpines = 64, kMaxHostsPerLeaf = 128;
constexpr std::int64_t kMaxStorageTiers = 8;

NodeIndex add_node(TopologySetting& topology, std::string name) {
  topology.nodes.push_back(std::move(name));
  return topology.nodes.size() - 1;
}

std::size_t add_link(Fields& fields, const std::string& key, const std::filesystem::path& folder,
                     TopologySetting& topology) {
  Fields link = fields.child(key, true);
  topology.links.push_back(read_link(link, folder));
  link.finish();
  return topology.links.size() - 1;
}

// A link that need not be given: fast and short enough to be no bottleneck.
std::size_t add_link_or(Fields& fields, const std::string& key, const std::filesystem::path& folder,
                        DataRate rate, Duration delay, TopologySetting& topology) {
  if (fields.has(key)) return add_link(fields, key, folder, topology);
  LinkSetting link;
  link.capacity = ConstantSpec{rate};
  link.trace_length = std::chrono::minutes{10};
  link.delay = delay;
  link.queue.limit = DataSize::bytes(16'000'000);
  link.mtu = topology.links.front().mtu;
  topology.links.push_back(link);
  return topology.links.size() - 1;
}

void add_cable_between(TopologySetting& topology, NodeIndex from, NodeIndex to, std::size_t link) {
  topology.cables.push_back(
      {fmt::format("{}-{}", topology.nodes[from], topology.nodes[to]), from, to, link, {}});
}

// "gpu-1" to "gpu-n", each at the end of a cable of its own.
void add_destinations(TopologySetting& topology, NodeIndex behind, std::size_t link,
                      std::string_view name, std::int64_t count) {
  for (std::int64_t i = 1; i <= count; ++i) {
    const NodeIndex node = add_node(topology, fmt::format("{}-{}", name, i));
    add_cable_between(topology, behind, node, link);
    topology.destinations.push_back(node);
    topology.hosts.push_back(node);
  }
}

void read_edge_single(Fields& fields, const std::filesystem::path& folder,
                      TopologySetting& topology) {
  const NodeIndex store = add_node(topology, "store"), gpu = add_node(topology, "gpu");
  topology.cables.push_back({"link", store, gpu, add_link(fields, "link", folder, topology), {}});
  topology.sources = {{store, 1}};
  topology.destinations = {gpu};
  topology.hosts = {store, gpu};
}

void read_edge_shared(Fields& fields, const std::filesystem::path& folder,
                      TopologySetting& topology) {
  const NodeIndex store = add_node(topology, "store"), access = add_node(topology, "access");
  const std::size_t shared = add_link(fields, "link", folder, topology);
  const std::size_t own =
      add_link_or(fields, "user_link", folder, DataRate::bits_per_sec(10'000'000'000),
                  Duration::zero(), topology);
  const std::int64_t users = fields.integer("users", 1, kMaxUsers);
  add_cable_between(topology, store, access, shared);
  topology.sources = {{store, 1}};
  topology.hosts = {store};
  add_destinations(topology, access, own, "user", users);
}

void read_wan_store(Fields& fields, const std::filesystem::path& folder,
                    TopologySetting& topology) {
  const NodeIndex store = add_node(topology, "store"), gateway = add_node(topology, "gateway");
  const std::size_t wan = add_link(fields, "link", folder, topology);
  const std::size_t local =
      add_link_or(fields, "local_link", folder, DataRate::bits_per_sec(25'000'000'000),
                  std::chrono::microseconds{50}, topology);
  const std::int64_t gpus = fields.integer("gpus", 1, kMaxUsers, 1);
  add_cable_between(topology, store, gateway, wan);
  topology.sources = {{store, 1}};
  topology.hosts = {store};
  add_destinations(topology, gateway, local, "gpu", gpus);
}

// Hosts are numbered through the leaves in turn, so that the first stores and the last GPUs lie
// apart and their paths cross the spines.
void read_leaf_spine(Fields& fields, const std::filesystem::path& folder,
                     TopologySetting& topology) {
  const std::size_t host_link = add_link(fields, "link", folder, topology);
  const std::size_t fabric = add_link(fields, "fabric_link", folder, topology);
  const std::int64_t leaves = fields.integer("leaves", 1, kMaxLeaves);
  const std::int64_t spines = fields.integer("spines", 1, kMaxSpines);
  const std::int64_t hosts = leaves * fields.integer("hosts_per_leaf", 1, kMaxHostsPerLeaf);
  const std::int64_t stores = fields.integer("stores", 1, hosts, 1);
  const std::int64_t gpus = fields.integer("gpus", 1, hosts, 1);
  if (stores + gpus > hosts) {
    return fields.errors().add(fields.node(),
                               fmt::format("{}: {} stores and {} GPUs on {} hosts",
                                           fields.path_of("stores"), stores, gpus, hosts),
                               "use more leaves or hosts_per_leaf, or fewer of them");
  }
  std::vector<NodeIndex> leaf_nodes;
  for (std::int64_t i = 0; i < leaves; ++i)
    leaf_nodes.push_back(add_node(topology, fmt::format("leaf-{}", i + 1)));
  for (std::int64_t i = 0; i < hosts; ++i) {
    const NodeIndex host = add_node(topology, fmt::format("host-{}", i + 1));
    add_cable_between(topology, leaf_nodes[static_cast<std::size_t>(i % leaves)], host, host_link);
    topology.hosts.push_back(host);
  }
  for (std::int64_t i = 0; i < spines; ++i) {
    const NodeIndex spine = add_node(topology, fmt::format("spine-{}", i + 1));
    for (const NodeIndex leaf : leaf_nodes) add_cable_between(topology, leaf, spine, fabric);
  }
  for (std::int64_t i = 0; i < stores; ++i)
    topology.sources.push_back({topology.hosts[static_cast<std::size_t>(i)], 1});
  for (std::int64_t i = hosts - gpus; i < hosts; ++i)
    topology.destinations.push_back(topology.hosts[static_cast<std::size_t>(i)]);
}

// Each place that keeps contexts has its own way to the GPU.
void read_tiered(Fields& fields, const std::filesystem::path& folder, TopologySetting& topology) {
  const NodeIndex gpu = add_node(topology, "gpu");
  topology.destinations = {gpu};
  topology.hosts = {gpu};
  const YAML::Node tiers = fields.node("tiers", true);
  if (!tiers.IsDefined()) return;
  if (!tiers.IsSequence() || tiers.size() == 0 || tiers.size() > kMaxStorageTiers) {
    return fields.errors().add(tiers, fields.path_of("tiers") + " is no list of 1 to 8 places",
                               "give each a name, a share and the keys of a link");
  }
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    Fields tier(tiers[i], fmt::format("{}[{}]", fields.path_of("tiers"), i), fields.errors());
    const NodeIndex node = add_node(topology, tier.text("name"));
    topology.sources.push_back({node, tier.number("share", 0, 1)});
    topology.links.push_back(read_link(tier, folder));
    tier.finish();
    topology.hosts.push_back(node);
    add_cable_between(topology, node, gpu, i);
  }
}

constexpr std::array kTopologyPresets{
    TopologyPreset{"edge-single", "store -link- gpu", read_edge_single},
    TopologyPreset{"edge-shared", "store -link- access -user_link- user-1 .. user-n",
                   read_edge_shared},
    TopologyPreset{"wan-store", "store -link- gateway -local_link- gpu-1 .. gpu-n", read_wan_store},
    TopologyPreset{"dc-leaf-spine",
                   "host-1 .. -link- leaf-1 .. -fabric_link- spine-1 .., all leaves to "
                   "all spines",
                   read_leaf_spine},
    TopologyPreset{"tiered", "each of `tiers` -its link- gpu", read_tiered},
};

}  // namespace

std::span<const TopologyPreset> topology_presets() {
  return kTopologyPresets;
}

}  // namespace sluice
