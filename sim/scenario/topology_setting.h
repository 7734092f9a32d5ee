// Where the links of a scenario lie, before any trace is drawn: nodes, cables between them, and who
// keeps contexts and who computes.
// Where in the flow: read from `topology` (or `link`) by topology_fields.h; a run draws its traces
// and makes a TopologySpec of it (sim/serving/topology.h).
// Surprise: a preset is nothing but a way to write nodes and cables; after reading there are only
// those.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/units.h"
#include "sim/net/network.h"
#include "traces/generate.h"
#include "traces/link_trace.h"

namespace sluice {

// Traces read from files; replicate r uses the (r modulo their number)-th.
struct ReplayedTraces {
  std::string file;  // as written
  std::vector<LinkTrace> traces;
  bool random_offset = true;  // each load begins anywhere in the trace; false: at its beginning
};

// What one direction of a cable is like.
struct LinkSetting {
  std::variant<GeneratorSpec, ReplayedTraces> capacity;
  Duration trace_length{};  // of a generated, time-clocked trace
  Duration delay{};         // one way
  // The replayed trace says the delay, or the loss, in the place of `delay` and `loss`.
  bool delay_from_trace = false, loss_from_trace = false;
  Duration jitter{};
  LossSpec loss;
  QueueSpec queue;
  DataSize mtu;
  [[nodiscard]] bool chunk_clocked() const;
};

using NodeIndex = std::size_t;  // in TopologySetting::nodes

// Both directions of a link between two nodes.
struct CableSetting {
  std::string name;
  NodeIndex from = 0, to = 0;       // `from` lies on the side of the sources
  std::size_t link = 0;             // in TopologySetting::links
  std::optional<std::size_t> back;  // absent: the same as there, with the same trace
};

struct SourceSetting {
  NodeIndex node = 0;
  double share = 1;  // of the contexts, relative to the other sources
};

struct TopologySetting {
  std::string preset;  // id, or "explicit"
  std::vector<std::string> nodes;
  std::vector<LinkSetting> links;       // each kind of link once
  std::vector<CableSetting> cables;     // the first is of the main kind
  std::vector<SourceSetting> sources;   // keep the contexts; each load's is drawn by the shares
  std::vector<NodeIndex> destinations;  // each with a GPU; each load's is drawn
  std::vector<NodeIndex> hosts;         // ends of cross traffic that names none

  // The kind of link that the scenario is about: its trace is stored with a run, its use is the
  // link utilisation, `--link-trace` replaces it.
  [[nodiscard]] const LinkSetting& main_link() const { return links[cables.front().link]; }
  [[nodiscard]] LinkSetting& main_link() { return links[cables.front().link]; }
};

// Traffic beside the loads. Without `from` or `to` a host is drawn for each flow or transfer.
struct CrossTrafficEnds {
  std::optional<NodeIndex> from, to;
};
// Packets that do not yield, at a rate, all the time or on and off.
struct SteadyTraffic {
  CrossTrafficEnds ends;
  GeneratorSpec rate;
  Duration trace_length{};
  DataSize packet;
};
// Transfers that begin at random and share links as the loads do.
struct PoissonTraffic {
  CrossTrafficEnds ends;
  Duration mean_gap{};
  DataSize low, high;  // uniform
  std::int32_t connections = 1;
};
// One transfer that never ends.
struct CompetingTraffic {
  CrossTrafficEnds ends;
  std::int32_t connections = 1;
};
using CrossTraffic = std::variant<SteadyTraffic, PoissonTraffic, CompetingTraffic>;

}  // namespace sluice
