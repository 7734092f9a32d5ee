#include "sim/scenario/cross_traffic_fields.h"

#include <fmt/format.h>

#include "sim/scenario/link_fields.h"
#include "sim/scenario/topology_fields.h"

namespace sluice {
namespace {

constexpr std::size_t kMaxEntries = 64;
constexpr DataSize kMaxPacket = DataSize::bytes(65535);  // the length field of IPv4
constexpr Duration kMinGap = std::chrono::microseconds{1};
constexpr DataSize kMaxTransfer = DataSize::bytes(1'000'000'000'000'000);
constexpr std::int64_t kMaxFlows = 1024, kMaxConnections = 1024;

std::optional<NodeIndex> read_end(Fields& fields, const std::string& key,
                                  const TopologySetting& topology) {
  const std::string name = fields.text(key, "any");
  if (name == "any") return std::nullopt;
  return find_node(topology, name, fields.node(key, false), fields.errors());
}

CrossTraffic read_steady(Fields& fields, const CrossTrafficEnds& ends) {
  SteadyTraffic steady{ends, read_rate(fields, "rate"), {}, {}};
  steady.trace_length = fields.duration("trace_length", std::chrono::minutes{10});
  steady.packet = fields.size("packet", DataSize::bytes(1500));
  if (steady.packet < DataSize::bytes(1) || steady.packet > kMaxPacket) {
    fields.errors().add(fields.node("packet", false), fields.path_of("packet") + " is out of range",
                        "use 1B to 65535B");
  }
  check_generated(fields, "rate", steady.rate, steady.trace_length);
  return steady;
}

CrossTraffic read_transfers(Fields& fields, const CrossTrafficEnds& ends) {
  PoissonTraffic traffic{ends, fields.duration("mean_gap"), {}, {}, 1};
  if (traffic.mean_gap < kMinGap) {
    fields.errors().add(fields.node("mean_gap", true),
                        fields.path_of("mean_gap") + " is below a microsecond",
                        "use a larger gap, or larger transfers");
  }
  const YAML::Node size = fields.node("size", true);
  if (size.IsDefined() && size.IsMap()) {
    Fields range = fields.child("size", true);
    traffic.low = range.size("low");
    traffic.high = range.size("high");
    range.finish();
  } else {
    traffic.low = traffic.high = fields.size("size");
  }
  if (traffic.low < DataSize::zero() || traffic.high > kMaxTransfer) {
    fields.errors().add(size, fields.path_of("size") + " is out of range", "use 0B to 1PB");
  }
  if (traffic.low > traffic.high)
    fields.errors().add(size, fields.path_of("size") + ": low passes high", "swap them");
  return traffic;
}

void read_entry(Fields fields, const TopologySetting& topology, std::vector<CrossTraffic>& all) {
  const std::string kind = fields.choice("kind", {"steady", "transfers", "tcp"});
  const CrossTrafficEnds ends{read_end(fields, "from", topology), read_end(fields, "to", topology)};
  if (ends.from && ends.from == ends.to)
    fields.errors().add(fields.node(), "cross traffic from a node to itself", "name two nodes");
  const std::int64_t flows = fields.integer("flows", 1, kMaxFlows, 1);
  CrossTraffic traffic;
  if (kind == "steady") {
    traffic = read_steady(fields, ends);
  } else {
    const auto connections =
        static_cast<std::int32_t>(fields.integer("connections", 1, kMaxConnections, 1));
    if (kind == "tcp") {
      traffic = CompetingTraffic{ends, connections};
    } else {
      traffic = read_transfers(fields, ends);
      std::get<PoissonTraffic>(traffic).connections = connections;
    }
  }
  fields.finish();
  for (std::int64_t i = 0; i < flows; ++i) all.push_back(traffic);
}

}  // namespace

std::vector<CrossTraffic> read_cross_traffic(Fields& top, const TopologySetting& topology) {
  std::vector<CrossTraffic> all;
  const YAML::Node list = top.node("cross_traffic", false);
  if (!list.IsDefined()) return all;
  if (!list.IsSequence() || list.size() > kMaxEntries) {
    top.errors().add(list, "cross_traffic is no list of at most 64 entries",
                     "give each a kind: steady, transfers or tcp");
    return all;
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    read_entry(Fields(list[i], fmt::format("cross_traffic[{}]", i), top.errors()), topology, all);
  }
  return all;
}

}  // namespace sluice
