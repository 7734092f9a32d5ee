// What every tier must hold to, whatever its engine.
#include <gtest/gtest.h>

#include "sim/net/validity.h"
#include "tests/net/tiers_fixture.h"

namespace sluice {
namespace {

using namespace net_test;

class Tier : public testing::TestWithParam<TierUnderTest> {
 protected:
  void SetUp() override {
    if (!GetParam().is_there) GTEST_SKIP() << "this build has no ns-3: tier " << GetParam().name;
  }
};

// 20 MB at 300 Mbit/s, RTT 20 ms, before a queue of 64 MB: all of it leaves the sender in slow
// start within a few round trips and waits in the queue for half a second. The next piece is asked
// for when the last has arrived, which is no silence: it takes its bytes (0.55 s with headers) and
// a round trip, where a window of ten packets would add five more.
TEST_P(Tier, TimeInTheQueueIsNoSilence) {
  TopologySpec topology = one_cable(constant(mbps(300)), 10ms);
  topology.links[0].queue.limit = DataSize::bytes(64'000'000);
  Simulation run(GetParam(), topology, TransportSpec{});
  const TransferId first = run.start(transfer(20'000'000));
  for (Instant until = kRunStart; !run.diary.of(first).completed_at; until += 1ms) {
    ASSERT_LT(until, kRunStart + 1min);
    run.clock->run(until);
  }
  const Instant asked = run.clock->now();
  const Diary::Page second = run.run_one(transfer(20'000'000));
  ASSERT_TRUE(second.completed_at);
  const double wire_s = 20e6 * 1500 / 1448 * 8 / 300e6;
  EXPECT_GE(to_seconds(*second.completed_at - asked), wire_s + 0.02 - 0.001);
  EXPECT_LE(to_seconds(*second.completed_at - asked), wire_s + 0.02 + 0.03);
}

TEST_P(Tier, EveryByteArrivesOnceAndTheListenerHearsInOrder) {
  Simulation run(GetParam(), one_cable(constant(mbps(1000)), 10ms), TransportSpec{});
  Transfer t = transfer(20'000'000);
  t.progress_every = DataSize::bytes(1'000'000);
  const Diary::Page page = run.run_one(t);
  ASSERT_TRUE(page.completed_at && page.first_byte_at);
  EXPECT_EQ(page.at_completion, t.size);
  EXPECT_GE(page.progress.size(), 15u);
  Instant last_at = *page.first_byte_at;
  DataSize last;
  for (const auto& [at, delivered] : page.progress) {
    EXPECT_GE(at, last_at);
    EXPECT_GE(delivered, last + t.progress_every - DataSize::bytes(70'000))
        << "a step, but for one segment";
    last_at = at;
    last = delivered;
  }
  EXPECT_LT(last, t.size);
  EXPECT_GE(*page.completed_at, last_at);
}

TEST_P(Tier, WhatALinkSentIsDeliveredDroppedOrOnTheWay) {
  Simulation run(GetParam(), one_cable(constant(mbps(1000)), 10ms), TransportSpec{});
  const TransferId id = run.start(transfer(20'000'000));
  for (int ms = 35; ms < 400; ms += 35) {
    run.clock->schedule(kRunStart + std::chrono::milliseconds{ms}, [&] {
      const LinkUsage usage = run.network->usage(LinkId{0});
      EXPECT_LE(usage.wire_delivered + usage.wire_dropped, usage.wire_sent);
      EXPECT_LE(usage.wire_delivered, usage.capacity);
    });
  }
  run.clock->run();
  EXPECT_TRUE(run.diary.of(id).completed_at);
  const LinkUsage usage = run.network->usage(LinkId{0});
  EXPECT_EQ(usage.wire_delivered + usage.wire_dropped, usage.wire_sent);
  // 13 813 packets of 1448 bytes, each with a header of 52; a connection may add a packet or two.
  const DataSize data = DataSize::bytes(20'000'000 + 13'813 * 52);
  EXPECT_GE(usage.wire_delivered, data);
  EXPECT_LE(usage.wire_delivered, data + GetParam().beside_data_max);
}

TEST_P(Tier, ACancelledTransferIsNotHeardOfAgainAndItsSenderStops) {
  Simulation run(GetParam(), one_cable(constant(mbps(100)), 5ms), TransportSpec{});
  const TransferId id = run.start(transfer(100'000'000));
  DataSize came;
  run.clock->schedule(kRunStart + 500ms, [&] {
    came = run.network->cancel(id);
    EXPECT_GT(came, DataSize::bytes(1'000'000));
    EXPECT_EQ(run.network->cancel(id), DataSize::zero()) << "a second time: it is over";
    EXPECT_EQ(run.network->delivered(id), DataSize::zero());
  });
  run.clock->run();
  EXPECT_FALSE(run.diary.of(id).completed_at);
  EXPECT_FALSE(run.diary.of(id).failed_at);
  EXPECT_LT(run.network->usage(LinkId{0}).wire_sent, came + DataSize::bytes(30'000'000));
}

TEST_P(Tier, AnotherTransferCompletesAfterACancel) {
  Simulation run(GetParam(), one_cable(constant(mbps(100)), 5ms), TransportSpec{});
  const TransferId first = run.start(transfer(100'000'000));
  const TransferId second = run.start(transfer(1'000'000));
  run.clock->schedule(kRunStart + 100ms, [&] { run.network->cancel(first); });
  run.clock->run();
  EXPECT_TRUE(run.diary.of(second).completed_at);
  EXPECT_EQ(run.diary.order(), std::vector{second});
}

TEST_P(Tier, CancellingBeforeTheRequestArrivesSendsNothing) {
  Simulation run(GetParam(), one_cable(constant(mbps(100)), 5ms), TransportSpec{});
  run.network->cancel(run.start(transfer(1'000'000)));
  run.clock->run();
  EXPECT_LE(run.network->usage(LinkId{0}).wire_sent, GetParam().beside_data_max);
}

TEST_P(Tier, TransfersOfOneGroupCompleteInTheOrderOfTheirRequests) {
  Simulation run(GetParam(), one_cable(constant(mbps(1000)), 2ms), TransportSpec{});
  std::vector<TransferId> ids;
  for (const std::int64_t bytes : {5'000'000, 100'000, 0, 1, 300'000})
    ids.push_back(run.start(transfer(bytes)));
  run.clock->run();
  EXPECT_EQ(run.diary.order(), ids);
}

TEST_P(Tier, TwoGroupsShareALinkAboutEqually) {
  Simulation run(GetParam(), one_cable(constant(mbps(1000)), 2ms), TransportSpec{});
  const TransferId a = run.start(transfer(50'000'000, 1));
  const TransferId b = run.start(transfer(50'000'000, 2));
  run.clock->run();
  const Duration apart =
      std::chrono::abs(*run.diary.of(a).completed_at - *run.diary.of(b).completed_at);
  EXPECT_LT(apart, 200ms);  // of about 800
}

TEST_P(Tier, AnEmptyTransferTakesTheHandshakeAndTheRoundTrip) {
  Simulation run(GetParam(), one_cable(constant(mbps(1000)), 10ms), TransportSpec{});
  const Diary::Page page = run.run_one(transfer(0));
  ASSERT_TRUE(page.completed_at);
  EXPECT_GE(*page.completed_at, kRunStart + 40ms);
  EXPECT_LE(*page.completed_at, kRunStart + 40ms + 10us);
  EXPECT_FALSE(page.first_byte_at);
}

TEST_P(Tier, UnknownNodesAndMissingWaysFailFromTheClock) {
  TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
  topology.nodes.push_back("island");
  Simulation run(GetParam(), topology, TransportSpec{});
  std::vector<TransferId> ids;
  for (const std::int32_t to : {2, 0, 7, -1}) {  // no link, the same node, unknown nodes
    Transfer t = transfer(1000);
    t.to = NodeId{to};
    ids.push_back(run.start(t));
    EXPECT_FALSE(run.diary.of(ids.back()).failed_at) << "not from inside start()";
    EXPECT_FALSE(run.network->round_trip(t.from, t.to, t.group));
    EXPECT_EQ(run.network->capacity_ahead(t.from, t.to, t.group, std::nullopt), DataRate::zero());
  }
  run.clock->run();
  for (const TransferId id : ids) EXPECT_EQ(run.diary.of(id).why, TransferFailure::kNoRoute);
}

TEST_P(Tier, ALinkWithoutAWayBackIsNoRoute) {
  TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
  topology.links.pop_back();
  Simulation run(GetParam(), topology, TransportSpec{});
  EXPECT_EQ(run.run_one(transfer(1000)).why, TransferFailure::kNoRoute);
}

TEST_P(Tier, AChunkClockedLinkRefusesATransferWithoutAChunk) {
  const TopologySpec topology = one_cable(by_chunk({mbps(1)}, TraceEnd::kLoop), 0ms);
  EXPECT_EQ(check_tier(GetParam().name, topology, TransportSpec{}).ok(), GetParam().knows_chunks);
  if (!GetParam().knows_chunks) return;
  Simulation run(GetParam(), topology, TransportSpec{});
  EXPECT_EQ(run.run_one(transfer(1000)).why, TransferFailure::kNoChunkIndex);
}

TEST_P(Tier, AChunkTravelsAtTheRateOfItsChunk) {
  const TopologySpec topology = one_cable(by_chunk({mbps(1000), mbps(100)}, TraceEnd::kLoop), 0ms);
  if (!GetParam().knows_chunks) {
    EXPECT_FALSE(check_tier(GetParam().name, topology, TransportSpec{}).ok()) << "says so instead";
    return;
  }
  Simulation run(GetParam(), topology, plain());
  Transfer t = transfer(10'000'000);
  t.chunk_index = 0;
  EXPECT_EQ(run.run_one(t).completed_at, kRunStart + 80ms);
  t.chunk_index = 3;
  EXPECT_EQ(run.run_one(t).completed_at, kRunStart + 880ms);
}

TEST_P(Tier, TheRoundTripIsThePropagationThereAndBack) {
  TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
  topology.links[1].delay = 3ms;
  Simulation run(GetParam(), topology, TransportSpec{});
  EXPECT_EQ(run.network->round_trip(kStore, kGpu, ConnectionGroup{1}), 13ms);
}

TEST_P(Tier, WhatIsAheadIsTheNarrowestLinkNow) {
  TopologySpec topology = one_cable(steps({{0s, mbps(1000)}, {1s, mbps(10)}}), 1ms);
  Simulation run(GetParam(), topology, TransportSpec{});
  EXPECT_EQ(run.network->capacity_ahead(kStore, kGpu, ConnectionGroup{1}, std::nullopt),
            mbps(1000));
  run.clock->schedule(kRunStart + 1s, [&] {
    EXPECT_EQ(run.network->capacity_ahead(kStore, kGpu, ConnectionGroup{1}, std::nullopt),
              mbps(10));
  });
  run.clock->run();
}

TEST_P(Tier, AnOutageIsWaitedFor) {
  Simulation run(GetParam(),
                 one_cable(steps({{0s, mbps(100)}, {100ms, mbps(0)}, {5s, mbps(100)}}), 5ms),
                 TransportSpec{});
  const Diary::Page page = run.run_one(transfer(2'000'000));
  ASSERT_TRUE(page.completed_at);
  EXPECT_GT(*page.completed_at, kRunStart + 5s);
  EXPECT_LT(*page.completed_at, kRunStart + 5s + GetParam().after_outage_max);
}

TEST_P(Tier, AListenerMayStartAndCloseFromInsideItsCalls) {
  Simulation run(GetParam(), one_cable(constant(mbps(1000)), 1ms), TransportSpec{});
  struct Chain final : TransferListener {
    explicit Chain(Network& network) : net(network) {}
    void on_first_byte(TransferId) override {
      if (num == 0) net.cancel(net.start(transfer(1'000'000), *this));
    }
    void on_complete(TransferId) override {
      net.close(ConnectionGroup{1});
      if (++num < 5) net.start(transfer(1'000'000), *this);
    }
    void on_failure(TransferId, TransferFailure) override { ADD_FAILURE(); }
    Network& net;
    int num = 0;
  } chain(*run.network);
  run.network->start(transfer(1'000'000), chain);
  run.clock->run();
  EXPECT_EQ(chain.num, 5);
}

TEST_P(Tier, ClosingAGroupCancelsWhatIsUnderWay) {
  Simulation run(GetParam(), one_cable(constant(mbps(100)), 5ms), TransportSpec{});
  const TransferId id = run.start(transfer(100'000'000, 1));
  const TransferId other = run.start(transfer(1'000'000, 2));
  run.clock->schedule(kRunStart + 50ms, [&] { run.network->close(ConnectionGroup{1}); });
  run.clock->run();
  EXPECT_FALSE(run.diary.of(id).completed_at);
  EXPECT_TRUE(run.diary.of(other).completed_at);
}

TEST_P(Tier, TheSameRunTwiceGivesTheSameInstants) {
  std::vector<Instant> seen[2];
  for (std::vector<Instant>& instants : seen) {
    TopologySpec topology =
        one_cable(steps({{0s, mbps(300)}, {100ms, mbps(50)}, {200ms, mbps(700)}}), 7ms);
    topology.links[0].queue.limit = DataSize::bytes(200'000);
    Simulation run(GetParam(), topology, TransportSpec{});
    std::vector<TransferId> ids;
    for (std::uint64_t group = 1; group <= 5; ++group) {
      Transfer t = transfer(3'000'000 + static_cast<std::int64_t>(group), group);
      t.connections = static_cast<std::int32_t>(group);
      ids.push_back(run.start(t));
    }
    run.clock->run();
    for (const TransferId id : ids) {
      ASSERT_TRUE(run.diary.of(id).completed_at);
      instants.push_back(*run.diary.of(id).first_byte_at);
      instants.push_back(*run.diary.of(id).completed_at);
    }
  }
  EXPECT_EQ(seen[0], seen[1]);
}

TEST_P(Tier, ATransferCrossesSeveralLinksAndTheNarrowestCounts) {
  TopologySpec topology;
  topology.nodes = {"store", "gpu", "switch"};
  LinkSpec link;
  link.name = "store-switch";
  link.from = kStore;
  link.to = NodeId{2};
  link.capacity = constant(mbps(1000));
  link.delay = 1ms;
  add_cable(topology, link);
  link.name = "switch-gpu";
  link.from = NodeId{2};
  link.to = kGpu;
  link.capacity = constant(mbps(100));
  add_cable(topology, link);
  Simulation run(GetParam(), topology, plain());
  const Diary::Page page = run.run_one(transfer(12'500'000));  // 1 s at 100 Mbit/s, 2 ms each way
  ASSERT_TRUE(page.completed_at);
  // A tier that cannot leave them out: 8633 headers of 52 bytes, a round trip for the handshake and
  // two while the window grows to the 50 kB on the way.
  const TransportSpec transport = GetParam().nearest(plain());
  Duration took = 1004ms;
  if (transport.count_headers) took += DataSize::bytes(8633 * 52) / mbps(100);
  if (transport.handshake) took += 4ms;
  const Duration start_up = transport.slow_start ? 8ms : 0ms;
  EXPECT_GE(*page.completed_at, kRunStart + took);
  EXPECT_LE(*page.completed_at, kRunStart + took + start_up + 1ms);  // stored and forwarded
}

INSTANTIATE_TEST_SUITE_P(All, Tier, testing::ValuesIn(all_tiers()),
                         [](const auto& suite_info) { return std::string(suite_info.param.name); });

}  // namespace
}  // namespace sluice
