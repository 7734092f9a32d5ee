// Topologies, routes, framing and capacity, by head.
#include <gtest/gtest.h>

#include "sim/net/capacity.h"
#include "sim/net/framing.h"
#include "sim/net/path.h"
#include "tests/net/net_fixture.h"

namespace sluice {
namespace {

using namespace net_test;

LinkSpec link(std::int32_t from, std::int32_t to) {
  LinkSpec spec;
  spec.name = std::to_string(from) + "-" + std::to_string(to);
  spec.from = NodeId{from};
  spec.to = NodeId{to};
  spec.capacity = constant(mbps(1000));
  return spec;
}

std::string refusal(const TopologySpec& topology, const TransportSpec& transport = {}) {
  const Status status = check_topology(topology, transport);
  return status.ok() ? "" : status.error().to_line();
}

TEST(Topology, ASoundOneIsAccepted) {
  EXPECT_EQ(refusal(one_cable(constant(mbps(1000)), 10ms)), "");
}

TEST(Topology, EachFaultIsNamedWithItsLink) {
  using Change = void (*)(TopologySpec&);
  const std::vector<std::pair<Change, std::string>> faults{
      {[](TopologySpec& t) { t.nodes.clear(); }, "there are no nodes"},
      {[](TopologySpec& t) { t.nodes[1] = "store"; }, "node 'store' is named twice"},
      {[](TopologySpec& t) { t.links.clear(); }, "there are no links"},
      {[](TopologySpec& t) { t.links[0].to = NodeId{2}; }, "link 'store-gpu': there is no node 2"},
      {[](TopologySpec& t) { t.links[0].from = NodeId{-1}; },
       "link 'store-gpu': there is no node -1"},
      {[](TopologySpec& t) { t.links[0].to = kStore; }, "from a node to itself"},
      {[](TopologySpec& t) { t.links[0].delay = -1ns; }, "the delay is"},
      {[](TopologySpec& t) { t.links[0].delay = 61s; }, "the delay is 61 s"},
      {[](TopologySpec& t) { t.links[0].mtu = DataSize::bytes(52); },
       "the MTU is 52 B with headers of 52 B"},
      {[](TopologySpec& t) { t.links[0].mtu = DataSize::bytes(65536); }, "the MTU is 65.54 kB"},
      {[](TopologySpec& t) { t.links[0].queue.limit = DataSize::bytes(-1); },
       "the queue is negative"},
      {[](TopologySpec& t) { t.links[0].jitter = -1ns; }, "the jitter is"},
      {[](TopologySpec& t) { t.links[0].delay_trace.emplace(); }, "the delay trace has no steps"},
      {[](TopologySpec& t) {
         t.links[0].queue.discipline = CoDel{100ms, 100ms};
       },
       "CoDel's interval does not pass its target"},
      {[](TopologySpec& t) {
         t.links[0].queue.discipline = Red{DataSize::bytes(2), DataSize::bytes(1)};
       },
       "RED's thresholds do not ascend"},
      {[](TopologySpec& t) { t.links[0].loss = RandomLoss{1.5}; }, "the loss is 1.5"},
      {[](TopologySpec& t) {
         t.links[0].loss = BurstLoss{1s, 9us};
       },
       "a mean time of burst loss is below 10 us"},
      {[](TopologySpec& t) {
         t.links[0].loss = LossTrace{{{0s, 1'000'001}}, 1s};
       },
       "the loss 1000001 ppm is outside"},
      {[](TopologySpec& t) { t.links[0].trace_offset = -1ns; },
       "the offset into the trace is negative"},
      {[](TopologySpec& t) { t.links[0].capacity.steps.clear(); }, "no steps"},
      {[](TopologySpec& t) { t.links[0].capacity = constant(mbps(-1)); }, "the rate is negative"}};
  for (const auto& [change, words] : faults) {
    TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
    change(topology);
    EXPECT_THAT(refusal(topology), testing::HasSubstr(words));
  }
}

TEST(Topology, TheTransportMustFitTheLinks) {
  const TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
  TransportSpec transport;
  transport.header = DataSize::bytes(-1);
  EXPECT_THAT(refusal(topology, transport), testing::HasSubstr("the header is negative"));
  transport = {};
  transport.initial_window_segments = 0;
  EXPECT_THAT(refusal(topology, transport),
              testing::HasSubstr("the initial window has no segments"));
  transport = {};
  transport.max_window = DataSize::bytes(14'479);  // ten packets of 1448 need 14 480
  EXPECT_THAT(refusal(topology, transport), testing::HasSubstr("above the largest window"));
  transport = {};
  transport.idle_timeout = -1ns;
  EXPECT_THAT(refusal(topology, transport), testing::HasSubstr("the idle timeout is negative"));
}

TEST(Route, AllShortestOnesInTheOrderOfTheirLinks) {
  TopologySpec topology;
  topology.nodes = {"a", "b", "c", "d"};
  // a to d: by b (links 0 and 3), by c (links 1 and 2), or the long way a b c d.
  topology.links = {link(0, 1), link(0, 2), link(2, 3), link(1, 3), link(1, 2), link(1, 3)};
  EXPECT_THAT(shortest_routes(topology, NodeId{0}, NodeId{3}),
              testing::ElementsAre(Route{LinkId{0}, LinkId{3}}, Route{LinkId{0}, LinkId{5}},
                                   Route{LinkId{1}, LinkId{2}}));
  EXPECT_THAT(shortest_routes(topology, NodeId{1}, NodeId{3}),
              testing::ElementsAre(Route{LinkId{3}}, Route{LinkId{5}}));
}

TEST(Route, ThereIsNoneBackwardsToUnknownNodesOrToTheSameNode) {
  TopologySpec topology;
  topology.nodes = {"a", "b"};
  topology.links = {link(0, 1)};
  EXPECT_TRUE(shortest_routes(topology, NodeId{1}, NodeId{0}).empty());
  EXPECT_TRUE(shortest_routes(topology, NodeId{0}, NodeId{2}).empty());
  EXPECT_TRUE(shortest_routes(topology, NodeId{-1}, NodeId{0}).empty());
  EXPECT_TRUE(shortest_routes(topology, NodeId{0}, NodeId{0}).empty());
}

TEST(Path, TheRoundTripOfADelayTraceIsItsMean) {
  TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
  topology.links[0].delay_trace = DelayTrace{{{0s, 20ms}, {1s, 50ms}}, 3s};  // mean 40 ms
  const TransportSpec transport;
  const PathTable paths(topology, transport);
  EXPECT_EQ(paths.find(kStore, kGpu, ConnectionGroup{1})->round_trip(), 50ms);
}

// Two ways over two links each: 600 groups divide 300 to 300, give or take four standard errors
// (4 * sqrt(600 / 4) = 49), and each group always takes the same.
TEST(Path, GroupsSpreadOverEquallyLongRoutes) {
  TopologySpec topology;
  topology.nodes = {"a", "b", "c", "d"};
  topology.links = {link(0, 1), link(0, 2), link(1, 3), link(2, 3), link(3, 0)};
  topology.seed = 7;
  const TransportSpec transport;
  const PathTable paths(topology, transport);
  std::int64_t by_b = 0;
  for (std::uint64_t group = 0; group < 600; ++group) {
    const Path* path = paths.find(NodeId{0}, NodeId{3}, ConnectionGroup{group});
    EXPECT_EQ(paths.find(NodeId{0}, NodeId{3}, ConnectionGroup{group}), path);
    if (path->links.front() == LinkId{0}) ++by_b;
  }
  EXPECT_NEAR(static_cast<double>(by_b), 300, 49);
  TopologySpec other = topology;
  other.seed = 8;
  const PathTable others(other, transport);
  std::int64_t same = 0;
  for (std::uint64_t group = 0; group < 600; ++group) {
    same += others.find(NodeId{0}, NodeId{3}, ConnectionGroup{group})->links ==
            paths.find(NodeId{0}, NodeId{3}, ConnectionGroup{group})->links;
  }
  EXPECT_NEAR(static_cast<double>(same), 300, 49) << "another seed, another spread";
}

TEST(Path, TheSmallestMtuFramesAndDelaysAdd) {
  TopologySpec topology;
  topology.nodes = {"a", "b", "c"};
  topology.links = {link(0, 1), link(1, 2), link(2, 0)};
  topology.links[0].delay = 1ms;
  topology.links[1].delay = 2ms;
  topology.links[1].mtu = DataSize::bytes(1000);
  topology.links[2].delay = 5ms;
  const TransportSpec transport;
  const PathTable paths(topology, transport);
  const Path* path = paths.find(NodeId{0}, NodeId{2}, ConnectionGroup{1});
  ASSERT_TRUE(path);
  EXPECT_EQ(path->forward, 3ms);
  EXPECT_EQ(path->round_trip(), 8ms);
  EXPECT_EQ(path->framing.payload, DataSize::bytes(948));
  EXPECT_EQ(paths.find(NodeId{0}, NodeId{2}, ConnectionGroup{1}), path) << "found once, kept";
}

TEST(Framing, PacketsAreCountedUpAndEachHasAHeader) {
  const Framing framing{DataSize::bytes(1448), DataSize::bytes(52)};
  EXPECT_EQ(framing.wire_size(DataSize::zero()), DataSize::zero());
  EXPECT_EQ(framing.wire_size(DataSize::bytes(1)), DataSize::bytes(53));
  EXPECT_EQ(framing.wire_size(DataSize::bytes(1448)), DataSize::bytes(1500));
  EXPECT_EQ(framing.wire_size(DataSize::bytes(1449)), DataSize::bytes(1553));
  // 176 MB: 121 547 packets.
  EXPECT_EQ(framing.wire_size(DataSize::bytes(176'000'000)),
            DataSize::bytes(176'000'000 + 121'547 * 52));
}

TEST(Framing, PayloadWithinWireBytesIsTheInverse) {
  const Framing framing{DataSize::bytes(1448), DataSize::bytes(52)};
  EXPECT_EQ(framing.payload_within(DataSize::bytes(52)), DataSize::zero());
  EXPECT_EQ(framing.payload_within(DataSize::bytes(53)), DataSize::bytes(1));
  EXPECT_EQ(framing.payload_within(DataSize::bytes(1530)),
            DataSize::bytes(1448));  // in the second header
  for (std::int64_t size = 1; size < 5000; ++size) {
    const DataSize payload = DataSize::bytes(size);
    ASSERT_EQ(framing.payload_within(framing.wire_size(payload)), payload);
    ASSERT_EQ(framing.payload_within(framing.wire_size(payload) - DataSize::bytes(1)),
              payload - DataSize::bytes(1));
  }
}

TEST(Nanobits, CountWithoutRounding) {
  // A third of a bit per ns, for 3 ns, is a bit; 8 bits are a byte.
  const Nanobits third = Nanobits::flown(DataRate::bits_per_sec(333'333'333), 3ns);
  EXPECT_EQ(third, Nanobits::flown(DataRate::bits_per_sec(1), 999'999'999ns));
  EXPECT_EQ(third.whole_bytes(), DataSize::zero());
  EXPECT_EQ(Nanobits::flown(DataRate::bits_per_sec(8), 1s).whole_bytes(), DataSize::bytes(1));
}

TEST(Nanobits, TimeIsRoundedUpAndACenturyIsNever) {
  EXPECT_EQ(Nanobits::of(DataSize::bytes(1)).time_at(DataRate::bits_per_sec(3'000'000'000)),
            3ns);  // 2.67
  EXPECT_EQ(Nanobits{}.time_at(DataRate::zero()), Duration::zero());
  EXPECT_EQ(Nanobits::of(DataSize::bytes(1)).time_at(DataRate::zero()), std::nullopt);
  EXPECT_EQ(Nanobits::of(DataSize::bytes(10'000'000'000)).time_at(DataRate::bits_per_sec(1)),
            std::nullopt);
  // 10 GB at 1 Gbit/s: 80 s, past 64 bits of nanobits.
  EXPECT_EQ(Nanobits::of(DataSize::bytes(10'000'000'000)).time_at(mbps(1000)), Duration{80s});
}

TEST(Capacity, AnAmountPassesAcrossAllChanges) {
  LinkSpec spec = link(0, 1);
  spec.capacity =
      steps({{0ms, mbps(8)}, {1ms, mbps(0)}, {2ms, mbps(16)}});  // 1000 B, nothing, 2000 B per ms
  const LinkCapacity capacity(spec);
  const auto finish = [&](Duration start, std::int64_t bytes) {
    return capacity.finish(kRunStart + start, Nanobits::of(DataSize::bytes(bytes)), std::nullopt);
  };
  EXPECT_EQ(finish(0ms, 1000), kRunStart + 1ms);
  EXPECT_EQ(finish(0ms, 2000), kRunStart + 2500us);
  EXPECT_EQ(finish(1500us, 2000), kRunStart + 3ms);
  EXPECT_EQ(capacity.offered_until(kRunStart + 3ms), DataSize::bytes(3000));
}

TEST(Capacity, AnEndlessOutageNeverLetsItPass) {
  LinkSpec spec = link(0, 1);
  spec.capacity = steps({{0ms, mbps(8)}, {1ms, mbps(0)}});
  EXPECT_EQ(LinkCapacity(spec).finish(kRunStart, Nanobits::of(DataSize::bytes(1001)), std::nullopt),
            std::nullopt);
}

}  // namespace
}  // namespace sluice
