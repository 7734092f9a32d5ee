// The parts of the fluid tier by themselves: what was sent by when, when it arrives, what steady
// flows leave, what loss allows, what comes next.
#include <gtest/gtest.h>

#include "sim/net/fluid/delay_line.h"
#include "sim/net/fluid/event_heap.h"
#include "sim/net/fluid/fluid_path.h"
#include "sim/net/fluid/sent_curve.h"
#include "sim/net/fluid/steady_load.h"
#include "tests/net/net_fixture.h"

namespace sluice {
namespace {

using namespace net_test;

constexpr Nanobits bytes(std::int64_t n) {
  return Nanobits::of(DataSize::bytes(n));
}

TEST(SentCurve, RemembersAsFarBackAsAsked) {
  SentCurve curve(2ms);
  Nanobits sent;
  for (int ms = 0; ms < 10; ++ms) {  // 1000 bytes in each even millisecond
    const Instant at = kRunStart + std::chrono::milliseconds{ms};
    curve.set({at, ms % 2 == 0 ? mbps(8) : mbps(0), sent, bytes(1'000'000)});
    curve.forget_before(at);
    if (ms % 2 == 0) sent += Nanobits::flown(mbps(8), 1ms);
  }
  EXPECT_EQ(curve.at(kRunStart + 9ms).whole_bytes(), DataSize::bytes(5000));
  EXPECT_EQ(curve.at(kRunStart + 8500us).whole_bytes(), DataSize::bytes(4500));
  EXPECT_EQ(curve.at(kRunStart + 7ms).whole_bytes(), DataSize::bytes(4000));
}

TEST(SentCurve, TellsWhenAnAmountIsReachedAcrossPauses) {
  SentCurve curve;  // 1000 bytes in the first millisecond, none in the second, then again
  curve.set({kRunStart, mbps(8), {}, bytes(1000)});
  curve.set({kRunStart + 2ms, mbps(8), bytes(1000), bytes(2000)});
  EXPECT_EQ(curve.reaches(bytes(500)), kRunStart + 500us);
  EXPECT_EQ(curve.reaches(bytes(1000)), kRunStart + 1ms);
  EXPECT_EQ(curve.reaches(bytes(1500)), kRunStart + 2500us);
  EXPECT_EQ(curve.reaches(bytes(2001)), std::nullopt);
}

TEST(SentCurve, WhatWasPlannedIsReplacedFromAnInstantOn) {
  SentCurve curve;
  curve.set({kRunStart, mbps(8), {}, bytes(1000)});
  curve.set({kRunStart + 2ms, mbps(8), bytes(1000), bytes(2000)});
  curve.set({kRunStart + 500us, mbps(0), bytes(500), bytes(500)});
  EXPECT_EQ(curve.at(kRunStart + 250us), bytes(250));
  EXPECT_EQ(curve.at(kRunStart + 10ms), bytes(500));
}

// 10 ms, from 100 ms on 30 ms, from 200 ms on 5 ms.
TopologySpec changing_delay() {
  TopologySpec topology = one_cable(constant(mbps(1000)), 0ms);
  DelayTrace trace;
  trace.steps = {{0ms, 10ms}, {100ms, 30ms}, {200ms, 5ms}};
  trace.length = 300ms;
  trace.end = TraceEnd::kHold;
  topology.links[0].delay_trace = trace;
  return topology;
}

TEST(DelayLine, AByteTakesTheDelayOfTheInstantAtWhichItLeaves) {
  const TopologySpec topology = changing_delay();
  const DelayLine line(topology, {LinkId{0}});
  EXPECT_EQ(line.arrival(kRunStart + 50ms), kRunStart + 60ms);
  EXPECT_EQ(line.arrival(kRunStart + 100ms), kRunStart + 130ms);
  EXPECT_EQ(line.arrival(kRunStart + 250ms), kRunStart + 255ms);
  EXPECT_EQ(line.longest(), 30ms);
}

TEST(DelayLine, AByteThatCouldOvertakeArrivesWithTheOneBeforeIt) {
  const TopologySpec topology = changing_delay();
  const DelayLine line(topology, {LinkId{0}});
  // What leaves just before 200 ms arrives at 230 ms, so nothing that leaves later is earlier.
  EXPECT_EQ(line.arrival(kRunStart + 200ms), kRunStart + 230ms);
  EXPECT_EQ(line.arrival(kRunStart + 224ms), kRunStart + 230ms);
  EXPECT_EQ(line.arrival(kRunStart + 226ms), kRunStart + 231ms);
}

TEST(DelayLine, WhatHasArrivedIsWhatLeftEarlyEnough) {
  const TopologySpec topology = changing_delay();
  const DelayLine line(topology, {LinkId{0}});
  EXPECT_LT(line.arrived_by(kRunStart + 9ms), kRunStart);
  EXPECT_EQ(line.arrived_by(kRunStart + 60ms), kRunStart + 50ms);
  EXPECT_EQ(line.arrived_by(kRunStart + 120ms), kRunStart + 100ms);  // nothing of the next stretch
  EXPECT_EQ(line.arrived_by(kRunStart + 150ms), kRunStart + 120ms);
  EXPECT_EQ(line.arrived_by(kRunStart + 229ms), kRunStart + 199ms);
  EXPECT_EQ(line.arrived_by(kRunStart + 230ms), kRunStart + 225ms);  // all at once
  for (int ms = 0; ms < 280; ++ms) {                                 // the two ways of asking agree
    const Instant left = kRunStart + std::chrono::milliseconds{ms};
    EXPECT_GE(line.arrived_by(line.arrival(left)), left) << ms;
    EXPECT_LE(line.arrived_by(line.arrival(left) - 1ns), left) << ms;
  }
}

TEST(DelayLine, JitterDelaysDensePacketsByNearlyAllOfIt) {
  LinkSpec link;
  link.capacity = constant(mbps(12));
  link.jitter = 10ms;
  // A packet of 1500 bytes each ms: 10 - sqrt(pi / 2 * 10 * 1) = 6.04 ms.
  EXPECT_NEAR(to_ms(mean_jitter(link)), 6.04, 0.01);
  link.capacity = constant(mbps(1));  // one each 12 ms: by themselves
  EXPECT_EQ(mean_jitter(link), 5ms);
  link.jitter = 0ms;
  EXPECT_EQ(mean_jitter(link), 0ms);
}

TEST(LossBound, FollowsTheTwoFormulasOfCubic) {
  const DataSize packet = DataSize::bytes(1500);
  // RTT 10 ms, 1 % loss: Reno-friendly, sqrt(150) = 12.25 packets per RTT: 14.7 Mbit/s.
  EXPECT_NEAR(loss_bound(0.01, packet, 10ms).megabits_per_sec(), 14.70, 0.01);
  // RTT 100 ms, 1e-6: 1.054 * (0.1 / 1e-6)^(3/4) = 5927 packets per RTT: 711 Mbit/s.
  EXPECT_NEAR(loss_bound(1e-6, packet, 100ms).megabits_per_sec(), 711.2, 0.5);
}

TopologySpec steady_line(std::vector<SteadyFlow> flows) {
  TopologySpec topology;
  topology.nodes = {"a", "b", "c"};
  const auto link = [&](const char* name, int from, int to, LinkTrace capacity) {
    LinkSpec spec;
    spec.name = name;
    spec.from = NodeId{from};
    spec.to = NodeId{to};
    spec.capacity = std::move(capacity);
    add_cable(topology, spec);
  };
  link("a-b", 0, 1, steps({{0ms, mbps(100)}, {10ms, mbps(20)}}));
  link("b-c", 1, 2, constant(mbps(60)));
  topology.steady_flows = std::move(flows);
  return topology;
}

TEST(SteadyLoad, OffersEachLinkWhatTheLinksBeforeItCouldPass) {
  const TopologySpec topology = steady_line(
      {{.name = "across", .from = NodeId{0}, .to = NodeId{2}, .rate = constant(mbps(50))},
       {.name = "late",
        .from = NodeId{1},
        .to = NodeId{2},
        .rate = steps({{0ms, mbps(0)}, {5ms, mbps(40)}})}});
  std::vector<LinkCapacity> capacity;
  for (const LinkSpec& link : topology.links) capacity.emplace_back(link);
  const std::vector<Route> routes{steady_route(topology, 0), steady_route(topology, 1)};
  const SteadyLoad first(topology, routes, capacity, LinkId{0});
  const SteadyLoad second(topology, routes, capacity, LinkId{2});
  EXPECT_EQ(first.offered(kRunStart), mbps(50));
  EXPECT_EQ(second.offered(kRunStart), mbps(50));
  EXPECT_EQ(second.next_change(kRunStart), kRunStart + 5ms);
  EXPECT_EQ(second.offered(kRunStart + 5ms), mbps(90));
  EXPECT_EQ(second.next_change(kRunStart + 5ms), kRunStart + 10ms);
  EXPECT_EQ(second.offered(kRunStart + 10ms), mbps(60));  // a-b passes 20 of the 50
  EXPECT_EQ(second.next_change(kRunStart + 10ms), std::nullopt);
  // Mbit/s * ms / 8 are kB / 1000: 50 * 5 + 90 * 5 + 60 * 2 offered, of 90 only 60 carried.
  const SteadyLoad::Sums sums = second.sums_until(kRunStart + 12ms);
  EXPECT_EQ(sums.offered, bytes((250 + 450 + 120) * 125));
  EXPECT_EQ(sums.carried, bytes((250 + 300 + 120) * 125));
}

struct Item {
  Instant next_at;
  std::uint64_t order = 0;
  std::size_t heap_index = EventHeap<Item>::kNotInHeap;
};

TEST(EventHeap, GivesTheEarliestAfterAnyMove) {
  std::vector<Item> items(20);
  EventHeap<Item> heap;
  for (std::size_t i = 0; i < items.size(); ++i) {
    items[i].order = i;
    heap.set(items[i], at_ns(static_cast<std::int64_t>(i * 7 % 20)));
  }
  heap.set(items[3], at_ns(100));
  heap.set(items[4], at_ns(-1));
  heap.remove(items[0]);
  heap.remove(items[0]);
  heap.set(items[5], Instant::max());  // as good as removed
  std::vector<std::int64_t> order;
  while (Item* first = heap.first()) {
    order.push_back(to_ns(first->next_at));
    heap.remove(*first);
  }
  EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
  EXPECT_EQ(order.size(), 18u);
  EXPECT_EQ(order.front(), -1);
  EXPECT_EQ(order.back(), 100);
}

TEST(EventHeap, EventsOfOneInstantComeInTheOrderOfTheirItems) {
  std::vector<Item> items(9);
  EventHeap<Item> heap;
  for (std::size_t i = items.size(); i-- > 0;) {
    items[i].order = i;
    heap.set(items[i], at_ns(5));
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    ASSERT_EQ(heap.first(), &items[i]);
    heap.remove(items[i]);
  }
}

}  // namespace
}  // namespace sluice
