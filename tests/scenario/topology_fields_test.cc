// What a scenario can say of nodes, links and cross traffic, and what it is told when it is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/ns3/ns3_tiers.h"
#include "sim/serving/cross_traffic.h"
#include "sim/serving/engine.h"
#include "sim/serving/run.h"
#include "sim/serving/topology.h"
#include "tests/scenario/scenario_files.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// The small scenario on another network, told in `network`.
std::string on(const std::string& network) {
  return replaced(kSmallScenario, "link:\n  capacity: 1Gbit/s\n  delay: 10ms\n", network);
}

Scenario read_on(const std::string& network) {
  Result<Scenario> s = read_text(on(network));
  if (s) return std::move(*s);
  ADD_FAILURE() << s.error().to_line();
  return {};
}

std::string error_on(const std::string& network) {
  const Result<Scenario> s = read_text(on(network));
  return s ? "no error" : s.error().to_line();
}

TopologySpec network_of(const Scenario& s) {
  return make_topology(s, *draw_replicate(s, 0), {.replicate = 0, .first_load = 0});
}

const std::string kLeafSpine = R"(topology:
  preset: dc-leaf-spine
  leaves: 4
  spines: 2
  hosts_per_leaf: 3
  stores: 2
  gpus: 3
  link: {capacity: 25Gbit/s, delay: 1us, mtu: 9000B}
  fabric_link: {capacity: 100Gbit/s, delay: 1us, mtu: 9000B}
)";

TEST(Topology, ALinkAloneIsOneStoreAndOneGpu) {
  const Scenario s = read_on("link: {capacity: 1Gbit/s, delay: 10ms}\n");
  EXPECT_THAT(s.topology.nodes, testing::ElementsAre("store", "gpu"));
  const TopologySpec network = network_of(s);
  ASSERT_EQ(network.links.size(), 2u);
  EXPECT_EQ(network.links[0].from, NodeId{0});
  EXPECT_EQ(network.links[1].from, NodeId{1});
}

// 12 hosts and 4 leaves to 2 spines: 12 + 8 cables, both ways each.
TEST(Topology, LeafAndSpine) {
  const Scenario s = read_on(kLeafSpine);
  EXPECT_EQ(s.topology.nodes.size(), 4u + 12u + 2u);
  EXPECT_EQ(s.topology.cables.size(), 12u + 8u);
  EXPECT_EQ(s.topology.sources.size(), 2u);
  EXPECT_EQ(s.topology.destinations.size(), 3u);
  const TopologySpec network = network_of(s);
  EXPECT_TRUE(check_topology(network, s.transport).ok());
  // Host 1 (leaf 1) to host 12 (leaf 4): host, leaf, one of two spines, leaf, host.
  const auto routes = shortest_routes(network, node_id(s.topology.sources[0].node),
                                      node_id(s.topology.destinations.back()));
  ASSERT_EQ(routes.size(), 2u);
  EXPECT_EQ(routes[0].size(), 4u);
}

TEST(Topology, UsersBehindOneAccessLinkEachHaveAGpu) {
  const Scenario s = read_on(
      "topology:\n  preset: edge-shared\n  users: 8\n  link: {capacity: 1Gbit/s, delay: 10ms}\n");
  EXPECT_EQ(s.topology.destinations.size(), 8u);
  EXPECT_EQ(main_links(s).size(), 1u) << "the access link alone";
  for (const NodeIndex user : s.topology.destinations) {
    EXPECT_EQ(shortest_routes(network_of(s), NodeId{0}, node_id(user)).at(0).size(), 2u);
  }
}

TEST(Topology, TiersAreDrawnByTheirShares) {
  Scenario s = read_on(R"(topology:
  preset: tiered
  tiers:
    - {name: host, share: 0.25, capacity: 100Gbit/s, delay: 1us}
    - {name: remote, share: 0.75, capacity: 1Gbit/s, delay: 20ms}
)");
  s.workload.loads = 4000;
  std::int64_t remote = 0;
  const Result<ReplicateDraws> draws = draw_replicate(s, 0);
  for (const LoadDraw& load : draws->loads) remote += load.source == 2;
  EXPECT_NEAR(static_cast<double>(remote), 3000, 110);  // 4 * sqrt(4000 * 0.25 * 0.75)
}

TEST(Topology, ExplicitNodesAndLinksWithAWayBackOfItsOwn) {
  const Scenario s = read_on(R"(topology:
  nodes: [store, switch, gpu-a, gpu-b]
  links:
    - {from: store, to: switch, capacity: 1Gbit/s, delay: 5ms, jitter: 1ms, loss: 0.01,
       queue: {discipline: codel, limit: 1MB, target: 5ms, interval: 100ms},
       back: {capacity: 100Mbit/s, delay: 7ms}}
    - {name: left, from: switch, to: gpu-a, capacity: 10Gbit/s, delay: 1ms}
    - {from: switch, to: gpu-b, capacity: 10Gbit/s, delay: 1ms,
       loss: {mean_good: 1s, mean_bad: 10ms, loss_bad: 0.5}}
  sources: {store: 1}
  destinations: [gpu-a, gpu-b]
)");
  const TopologySpec network = network_of(s);
  ASSERT_EQ(network.links.size(), 6u);
  EXPECT_EQ(network.links[0].jitter, 1ms);
  EXPECT_EQ(network.links[0].loss, LossSpec(RandomLoss{0.01}));
  EXPECT_TRUE(std::holds_alternative<CoDel>(network.links[0].queue.discipline));
  EXPECT_EQ(network.links[1].delay, 7ms);
  EXPECT_EQ(network.links[1].capacity.steps.at(0).rate, DataRate::bits_per_sec(100'000'000));
  EXPECT_EQ(network.links[2].name, "left");
  EXPECT_NEAR(mean_loss(network.links[4].loss), 0.5 * 10 / 1010, 1e-12);
}

// A queue that marks is another network; one that does not is what it was before there were marks.
TEST(Topology, ARedQueueMarksWhenToldTo) {
  const std::string text =
      "link: {capacity: 1Gbit/s, delay: 1ms, queue: {discipline: red, limit: 1MB, low: 90kB,\n"
      "  high: 90kB, probability: 1, weight: 1, ecn: true}}\n";
  const Scenario marks = read_on(text), drops = read_on(replaced(text, ", ecn: true", ""));
  const Red step{.low = DataSize::bytes(90'000),
                 .high = DataSize::bytes(90'000),
                 .probability = 1,
                 .weight = 1,
                 .ecn = true};
  for (const LinkSpec& link : network_of(marks).links)
    EXPECT_EQ(std::get<Red>(link.queue.discipline), step);
  EXPECT_FALSE(std::get<Red>(network_of(drops).links[0].queue.discipline).ecn);
  EXPECT_THAT(marks.canonical, HasSubstr("\"ecn\":true"));
  EXPECT_THAT(drops.canonical, testing::Not(HasSubstr("ecn")));
}

TEST(Topology, FaultsAreOneLineThatNamesTheField) {
  const std::string two = R"(topology:
  nodes: [store, gpu]
  links: [{from: store, to: gpu, capacity: 1Gbit/s, delay: 1ms}]
  sources: [store]
  destinations: [gpu]
)";
  EXPECT_EQ(error_on(two), "no error");
  EXPECT_THAT(error_on(replaced(two, "to: gpu", "to: gpo")),
              HasSubstr("there is no node `gpo`; did you mean `gpu`?"));
  EXPECT_THAT(error_on(replaced(two, "destinations: [gpu]", "destinations: [store]")),
              HasSubstr("node `store` is a source and a destination"));
  EXPECT_THAT(error_on(replaced(two, "[store, gpu]", "[store, gpu, far]")),
              HasSubstr("no links lead to node `far`"));
  EXPECT_THAT(error_on(replaced(two, "delay: 1ms", "delay: 1ms, loss: 2")),
              HasSubstr("topology.links[0].loss"));
  EXPECT_THAT(error_on(replaced(two, "links: [{",
                                "links: [{from: store, to: gpu, capacity: 1Gbit/s, "
                                "delay: 2ms}, {")),
              HasSubstr("two links are called `store-gpu`"));
  EXPECT_THAT(error_on("topology:\n  preset: tiered\n  tiers:\n"
                       "    - {name: gpu, share: 1, capacity: 1Gbit/s, delay: 1us}\n"),
              HasSubstr("two nodes are called `gpu`"));
  EXPECT_THAT(error_on("topology: {preset: edge-shred, users: 2}\n"),
              HasSubstr("did you mean `edge-shared`?"));
  EXPECT_THAT(error_on(replaced(kLeafSpine, "gpus: 3", "gpus: 11")),
              HasSubstr("2 stores and 11 GPUs on 12 hosts"));
}

const std::string kBusyLink = R"(link: {capacity: 1Gbit/s, delay: 10ms}
warm_up: 100ms
cross_traffic:
  - {kind: steady, from: store, to: gpu, rate: 200Mbit/s}
  - {kind: transfers, from: store, to: gpu, mean_gap: 50ms, size: {low: 100kB, high: 1MB}}
  - {kind: tcp, from: store, to: gpu, connections: 2, flows: 3}
)";

TEST(CrossTraffic, IsReadWithItsKindAndItsEnds) {
  const Scenario s = read_on(kBusyLink);
  ASSERT_EQ(s.cross_traffic.size(), 5u);
  EXPECT_EQ(std::get<PoissonTraffic>(s.cross_traffic[1]).high, DataSize::bytes(1'000'000));
  EXPECT_EQ(std::get<CompetingTraffic>(s.cross_traffic[4]).connections, 2);
  EXPECT_EQ(network_of(s).steady_flows.at(0).rate.steps.at(0).rate,
            DataRate::bits_per_sec(200'000'000));
  EXPECT_THAT(
      error_on(replaced(kBusyLink, "from: store, to: gpu, rate", "from: gpu, to: gpu, rate")),
      HasSubstr("from a node to itself"));
  EXPECT_THAT(error_on(replaced(kBusyLink, "50ms", "1ns")), HasSubstr("below a microsecond"));
  EXPECT_THAT(error_on(replaced(kBusyLink, "high: 1MB", "high: 9EB")), HasSubstr("size"));
  EXPECT_THAT(error_on(replaced(kBusyLink, "kind: tcp", "kind: udp")), HasSubstr("unknown value"));
}

// Seven connections of the same kind compete with the load's one, and most of the rest is taken
// too: a context that needs 1 s alone needs several.
TEST(CrossTraffic, TakesItsShareOfTheLink) {
  const PolicySpec policy = *parse_policy("fixed:level=int8@token");
  const auto alone = run_replicate(
      read_on("link: {capacity: 1Gbit/s, delay: 10ms}\nwarm_up: 100ms\n"), policy, 0, "fluid");
  const auto busy = run_replicate(read_on(kBusyLink), policy, 0, "fluid");
  ASSERT_TRUE(alone.ok() && busy.ok());
  EXPECT_EQ(alone->loads.at(0).context_tokens, busy->loads.at(0).context_tokens);
  EXPECT_GT(*busy->loads.at(0).ttft(), 3 * *alone->loads.at(0).ttft());
}

// After 15 retries, about ten minutes, ns-3's TCP gives up: the flow is back all the same when the
// link is. Four minutes later, its next SYN long sent, it uses at least half of 10 s at 1 Mbit/s.
TEST(CrossTraffic, AFlowThatNeverEndsOutlivesALongOutage) {
  if (!ns3_available()) GTEST_SKIP() << "this build has no ns-3";
  const Scenario s = read_on(
      "link: {capacity: 1Mbit/s, delay: 10ms, queue: 30kB}\n"
      "cross_traffic:\n  - {kind: tcp, from: store, to: gpu}\n");
  TopologySpec topology = network_of(s);
  for (LinkSpec& link : topology.links) {
    link.capacity.end = TraceEnd::kHold;
    link.trace_offset = Duration::zero();
    link.capacity.steps = {{0s, DataRate::bits_per_sec(1'000'000)},
                           {10s, DataRate::zero()},
                           {20min, DataRate::bits_per_sec(1'000'000)}};
    link.capacity.length = 30min;
  }
  Result<Engine> engine = make_engine("tcp", topology, s.transport);
  ASSERT_TRUE(engine.ok());
  CrossTrafficSource source(*engine->clock, *engine->network, s, {.replicate = 0, .first_load = 0});
  source.begin();
  const auto delivered = [&](Duration at) {
    engine->clock->run(kRunStart + at);
    return engine->network->usage(LinkId{0}).wire_delivered;
  };
  const DataSize before = delivered(20min), late = delivered(24min), last = delivered(24min + 10s);
  EXPECT_GT(before, DataSize::bytes(625'000));  // 10 s are 1.25 MB
  EXPECT_LE(before, DataSize::bytes(1'250'000));
  EXPECT_GT(last - late, DataSize::bytes(625'000));
}

}  // namespace
}  // namespace sluice
