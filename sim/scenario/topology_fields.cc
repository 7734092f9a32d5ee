#include "sim/scenario/topology_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/names.h"
#include "sim/scenario/link_fields.h"
#include "sim/scenario/topology_presets.h"

namespace sluice {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kMaxCables = 16'384;

void read_preset(Fields& fields, const std::string& id, const fs::path& folder,
                 TopologySetting& topology) {
  std::vector<std::string> known;
  for (const TopologyPreset& preset : topology_presets()) {
    known.emplace_back(preset.id);
    if (preset.id == id) return preset.read(fields, folder, topology);
  }
  known.emplace_back("explicit");
  fields.errors().add(fields.node(),
                      fmt::format("{}: unknown preset `{}`", fields.path_of("preset"), id),
                      suggest_name(id, known));
}

std::size_t add_kind(Fields& cable, const fs::path& folder, TopologySetting& topology) {
  topology.links.push_back(read_link(cable, folder));
  return topology.links.size() - 1;
}

void read_cable(Fields cable, const fs::path& folder, TopologySetting& topology) {
  FieldErrors& errors = cable.errors();
  const std::string from = cable.text("from"), to = cable.text("to");
  CableSetting setting;
  setting.from = find_node(topology, from, cable.node("from", false), errors);
  setting.to = find_node(topology, to, cable.node("to", false), errors);
  setting.name = cable.text("name", fmt::format("{}-{}", from, to));
  setting.link = add_kind(cable, folder, topology);
  if (cable.has("back")) {
    Fields back = cable.child("back", true);
    setting.back = add_kind(back, folder, topology);
    back.finish();
  }
  cable.finish();
  topology.cables.push_back(std::move(setting));
}

void read_cables(Fields& fields, const fs::path& folder, TopologySetting& topology) {
  const YAML::Node list = fields.node("links", true);
  if (!list.IsDefined()) return;
  if (!list.IsSequence() || list.size() == 0 || list.size() > kMaxCables) {
    return fields.errors().add(list, fields.path_of("links") + " is no list of links",
                               "give each from, to, capacity and delay");
  }
  for (std::size_t i = 0; i < list.size() && !fields.errors().any(); ++i) {
    read_cable(Fields(list[i], fmt::format("{}[{}]", fields.path_of("links"), i), fields.errors()),
               folder, topology);
  }
}

// `[a, b]`, each with the same share, or `{a: 0.7, b: 0.3}`.
void read_sources(Fields& fields, TopologySetting& topology) {
  const YAML::Node node = fields.node("sources", true);
  if (!node.IsDefined()) return;
  if (!node.IsMap()) {
    for (const std::string& name : fields.texts("sources"))
      topology.sources.push_back({find_node(topology, name, node, fields.errors()), 1});
    return;
  }
  Fields shares = fields.child("sources", true);
  for (const auto& entry : node) {
    const std::string name = entry.first.Scalar();
    const NodeIndex source = find_node(topology, name, entry.first, fields.errors());
    topology.sources.push_back({source, shares.number(name, 0, 1)});
  }
}

void read_explicit(Fields& fields, const fs::path& folder, TopologySetting& topology) {
  topology.nodes = fields.texts("nodes");
  const std::set<std::string> distinct(topology.nodes.begin(), topology.nodes.end());
  if (topology.nodes.size() < 2 || topology.nodes.size() > kMaxNodes ||
      distinct.size() != topology.nodes.size()) {
    return fields.errors().add(
        fields.node("nodes", true),
        fmt::format("{}: two to {} different names are needed", fields.path_of("nodes"), kMaxNodes),
        "as in `nodes: [store, switch, gpu]`");
  }
  read_cables(fields, folder, topology);
  read_sources(fields, topology);
  (void)fields.node("destinations", true);
  for (const std::string& name : fields.texts("destinations")) {
    topology.destinations.push_back(
        find_node(topology, name, fields.node("destinations", false), fields.errors()));
  }
  for (NodeIndex i = 0; i < topology.nodes.size(); ++i) topology.hosts.push_back(i);
}

// Draws go by the names of cables, results by those of nodes.
void check_names(Fields& fields, const TopologySetting& topology) {
  std::set<std::string> nodes, cables;
  for (const std::string& name : topology.nodes) {
    if (nodes.insert(name).second) continue;
    fields.errors().add(fields.node(), fmt::format("two nodes are called `{}`", name),
                        "give each its own name");
  }
  for (const CableSetting& cable : topology.cables) {
    if (cables.insert(cable.name).second && cables.insert(cable.name + " (back)").second) continue;
    fields.errors().add(fields.node(), fmt::format("two links are called `{}`", cable.name),
                        "give one of them a `name`");
  }
}

void check_ends(Fields& fields, const TopologySetting& topology) {
  double shares = 0;
  for (const SourceSetting& source : topology.sources) shares += source.share;
  if (topology.sources.empty() || shares <= 0 || topology.destinations.empty()) {
    return fields.errors().add(fields.node(), "nobody keeps contexts, or nobody asks for them",
                               "give sources with a share above 0, and destinations");
  }
  for (const SourceSetting& source : topology.sources) {
    if (std::count(topology.destinations.begin(), topology.destinations.end(), source.node) == 0)
      continue;
    return fields.errors().add(
        fields.node(),
        fmt::format("node `{}` is a source and a destination", topology.nodes[source.node]),
        "what is already there needs no network");
  }
}

}  // namespace

NodeIndex find_node(const TopologySetting& topology, const std::string& name, const YAML::Node& at,
                    FieldErrors& errors) {
  const auto found = std::find(topology.nodes.begin(), topology.nodes.end(), name);
  if (found != topology.nodes.end()) return static_cast<NodeIndex>(found - topology.nodes.begin());
  errors.add(at, fmt::format("there is no node `{}`", name), suggest_name(name, topology.nodes));
  return 0;
}

TopologySetting read_topology(Fields& top, const fs::path& folder) {
  TopologySetting topology;
  if (!top.has("topology")) {
    topology.preset = "edge-single";
    read_preset(top, topology.preset, folder, topology);
    return topology;
  }
  Fields fields = top.child("topology", true);
  topology.preset = fields.text("preset", "explicit");
  if (topology.preset == "explicit") {
    read_explicit(fields, folder, topology);
  } else {
    read_preset(fields, topology.preset, folder, topology);
  }
  fields.finish();
  if (!fields.errors().any()) check_names(fields, topology);
  if (!fields.errors().any()) check_ends(fields, topology);
  return topology;
}

}  // namespace sluice
