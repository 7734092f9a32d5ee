#include "sim/serving/topology.h"

#include <fmt/format.h>

namespace sluice {
namespace {

LinkSpec make_link(const LinkSetting& setting, const LinkTrace& trace, Duration offset,
                   const CableSetting& cable) {
  LinkSpec link{.name = cable.name,
                .from = node_id(cable.from),
                .to = node_id(cable.to),
                .capacity = trace,
                .trace_offset = offset,
                .delay = setting.delay,
                .jitter = setting.jitter,
                .loss = setting.loss,
                .queue = setting.queue,
                .mtu = setting.mtu};
  if (setting.delay_from_trace) link.delay_trace = trace.delay;
  if (setting.loss_from_trace) link.loss = *trace.loss;
  return link;
}

// The cables alternate: link 2 i leads there and link 2 i + 1 back.
void add_cables(TopologySpec& topology, const Scenario& s, const ReplicateDraws& draws,
                StageKey stage) {
  const LoadDraw& first = draws.loads[static_cast<std::size_t>(stage.first_load)];
  topology.links.reserve(s.topology.cables.size() * 2);
  for (std::size_t i = 0; i < s.topology.cables.size(); ++i) {
    const CableSetting& cable = s.topology.cables[i];
    const LinkSetting& setting = s.topology.links[cable.link];
    const CableTraces& traces = draws.cables[i];
    RandomStream offsets = stage_stream(s, stage, "offset", i);
    const Duration offset =
        i == 0 ? first.trace_offset : draw_offset(setting, traces.there, offsets);
    add_cable(topology, make_link(setting, traces.there, offset, cable));
    if (!cable.back) continue;
    const LinkSetting& back = s.topology.links[*cable.back];
    LinkSpec link = make_link(back, *traces.back, draw_offset(back, *traces.back, offsets), cable);
    std::swap(link.from, link.to);
    link.name += " (back)";
    topology.links.back() = std::move(link);
  }
}

void add_steady_flows(TopologySpec& topology, const Scenario& s, StageKey stage) {
  for (std::size_t i = 0; i < s.cross_traffic.size(); ++i) {
    const auto* steady = std::get_if<SteadyTraffic>(&s.cross_traffic[i]);
    if (steady == nullptr) continue;
    RandomStream random = stage_stream(s, stage, "steady", i);
    const DrawnEnds ends = draw_ends(s.topology, steady->ends, random);
    Result<LinkTrace> rate =
        generate(steady->rate, random.next_u64(), static_cast<std::uint64_t>(stage.replicate),
                 steady->trace_length);
    if (!rate) throw std::invalid_argument(rate.error().what);  // checked with the scenario
    topology.steady_flows.push_back({.name = fmt::format("cross traffic {}", i + 1),
                                     .from = ends.from,
                                     .to = ends.to,
                                     .rate = std::move(*rate),
                                     .packet = steady->packet});
  }
}

}  // namespace

RandomStream stage_stream(const Scenario& s, StageKey stage, std::string_view purpose,
                          std::uint64_t index) {
  const auto first = static_cast<std::uint64_t>(stage.first_load);
  const auto replicate = static_cast<std::uint64_t>(stage.replicate);
  const std::uint64_t of_stage =
      RandomStream(RandomStream(s.seed, "stage", replicate).next_u64(), "load", first).next_u64();
  return RandomStream(of_stage, purpose, index);
}

DrawnEnds draw_ends(const TopologySetting& topology, const CrossTrafficEnds& ends,
                    RandomStream& random) {
  const auto draw = [&] {
    return topology.hosts[static_cast<std::size_t>(random.below(topology.hosts.size()))];
  };
  NodeIndex from = ends.from.value_or(0), to = ends.to.value_or(0);
  do {
    if (!ends.from) from = draw();
    if (!ends.to) to = draw();
  } while (from == to);
  return {node_id(from), node_id(to)};
}

TopologySpec make_topology(const Scenario& s, const ReplicateDraws& draws, StageKey stage) {
  TopologySpec topology;
  topology.nodes = s.topology.nodes;
  topology.seed = stage_stream(s, stage, "network", 0).next_u64();
  add_cables(topology, s, draws, stage);
  add_steady_flows(topology, s, stage);
  return topology;
}

std::vector<LinkId> main_links(const Scenario& s) {
  std::vector<LinkId> links;
  for (std::size_t i = 0; i < s.topology.cables.size(); ++i) {
    if (s.topology.cables[i].link == s.topology.cables.front().link)
      links.push_back(LinkId{static_cast<std::int32_t>(2 * i)});
  }
  return links;
}

}  // namespace sluice
