// What only the burst tier has: segments on a wire whose rate changes under them, queues, losses,
// acknowledgements.
#include <gtest/gtest.h>

#include "tests/net/tiers_fixture.h"

namespace sluice {
namespace {

using namespace net_test;

class Burst : public testing::Test {
 protected:
  void SetUp() override {
    if (!ns3_available()) GTEST_SKIP() << "this build has no ns-3";
  }
  const TierUnderTest tier_ = tier_named("burst");
};

// One segment of 62 500 bytes is 500 us of a 1 Gbit/s wire.
TEST_F(Burst, ARateChangeInTheMiddleOfASegmentRetimesTheRest) {
  Simulation run(tier_, one_cable(steps({{0us, mbps(1000)}, {250us, mbps(500)}}), 0ms), plain());
  EXPECT_EQ(run.run_one(transfer(62'500)).completed_at, kRunStart + 750us);
}

TEST_F(Burst, RateZeroHoldsASegmentOnTheWire) {
  Simulation run(tier_,
                 one_cable(steps({{0us, mbps(1000)}, {250us, mbps(0)}, {3s, mbps(1000)}}), 0ms),
                 plain());
  EXPECT_EQ(run.run_one(transfer(62'500)).completed_at, kRunStart + 3s + 250us);
}

TEST_F(Burst, AnOutageForEverLeavesTheTransferUnfinished) {
  Simulation run(tier_, one_cable(steps({{0us, mbps(1000)}, {250us, mbps(0)}}), 0ms), plain());
  const TransferId id = run.start(transfer(62'500));
  run.clock->run(kRunStart + 1h);
  EXPECT_FALSE(run.diary.of(id).completed_at);
}

TEST_F(Burst, ASegmentCarriesAHeaderForEachPacketOfTheMtu) {
  TransportSpec transport = plain();
  transport.count_headers = true;
  transport.header = DataSize::bytes(500);
  TopologySpec topology = one_cable(constant(mbps(1000)), 0ms);
  Simulation run(tier_, topology, transport);
  // Request: a header, 4 us. 60 packets of 1000 + 500: 90 000 bytes, 720 us.
  EXPECT_EQ(run.run_one(transfer(60'000)).completed_at, kRunStart + 4us + 720us);
}

TEST_F(Burst, OneLoadCheckedByHeadIsWithinTwoPercent) {
  // 1 MB without headers at 1 Gbit/s, RTT 20 ms: 10 + 8 + 10 ms.
  Simulation run(tier_, one_cable(constant(mbps(1000)), 10ms), plain());
  EXPECT_EQ(run.run_one(transfer(1'000'000)).completed_at, kRunStart + 28ms);
}

// Queues of 20, 4 and 1 packets on a path that holds 1667: most of slow start's last window is
// dropped.
TEST_F(Burst, TinyQueuesDropSegmentsAndEveryByteStillArrivesOnce) {
  for (const std::int64_t queue : {30'000, 6'000, 1'500}) {
    TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
    topology.links[0].queue.limit = DataSize::bytes(queue);
    Simulation run(tier_, topology, TransportSpec{});
    Transfer t = transfer(5'000'000);
    t.progress_every = DataSize::bytes(1'448);
    const Diary::Page page = run.run_one(t);
    ASSERT_TRUE(page.completed_at) << queue;
    const LinkUsage usage = run.network->usage(LinkId{0});
    EXPECT_GT(usage.wire_dropped, DataSize::zero()) << queue;
    EXPECT_EQ(usage.wire_sent, usage.wire_delivered + usage.wire_dropped) << queue;
    EXPECT_EQ(page.at_completion, t.size) << queue;
    for (std::size_t i = 1; i < page.progress.size(); ++i) {
      ASSERT_GT(page.progress[i].second, page.progress[i - 1].second) << queue;
    }
  }
}

TEST_F(Burst, LostAcknowledgementsAreMadeGoodByLaterOnes) {
  TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
  topology.links[1].capacity =
      constant(DataRate::bits_per_sec(50'000));          // 120 acknowledgements per second
  topology.links[1].queue.limit = DataSize::bytes(200);  // of 52 bytes each
  Simulation run(tier_, topology, TransportSpec{});
  const Diary::Page page = run.run_one(transfer(20'000'000));
  ASSERT_TRUE(page.completed_at);
  EXPECT_EQ(page.at_completion, DataSize::bytes(20'000'000));
  EXPECT_GT(run.network->usage(LinkId{1}).wire_dropped, DataSize::zero());
}

TEST_F(Burst, ALostHandshakeIsTriedAgainAfterASecond) {
  TopologySpec topology = one_cable(constant(mbps(1)), 10ms);
  topology.links[1].queue.limit =
      DataSize::zero();  // 416 us for a header: the second of two at once finds the wire busy
  Simulation run(tier_, topology, TransportSpec{});
  const TransferId first = run.start(transfer(1'000, 1));
  const TransferId second = run.start(transfer(1'000, 2));
  run.clock->run();
  ASSERT_TRUE(run.diary.of(first).completed_at && run.diary.of(second).completed_at);
  EXPECT_LT(*run.diary.of(first).completed_at, kRunStart + 100ms);
  EXPECT_GT(*run.diary.of(second).completed_at, kRunStart + 1s);
  EXPECT_LT(*run.diary.of(second).completed_at, kRunStart + 1100ms);
}

TEST_F(Burst, TransfersInBothDirectionsShareNothingButTheAcknowledgements) {
  Simulation run(tier_, one_cable(constant(mbps(1000)), 1ms), TransportSpec{});
  Transfer up = transfer(10'000'000, 2);
  std::swap(up.from, up.to);
  const TransferId down_id = run.start(transfer(10'000'000, 1));
  const TransferId up_id = run.start(up);
  run.clock->run();
  EXPECT_LT(*run.diary.of(down_id).completed_at, kRunStart + 120ms);
  EXPECT_LT(*run.diary.of(up_id).completed_at, kRunStart + 120ms);
}

// A segment of 44 packets has no one fate where they are lost one by one.
TEST_F(Burst, WherePacketsAreLostOneByOneItIsThePacketTier) {
  using Change = void (*)(LinkSpec&);
  const std::vector<Change> changes{
      [](LinkSpec& link) { link.loss = RandomLoss{0.01}; },
      [](LinkSpec& link) { link.queue.discipline = CoDel{}; },
      [](LinkSpec& link) {
        link.queue.discipline = Red{DataSize::bytes(100'000), DataSize::bytes(300'000)};
      }};
  for (const Change change : changes) {
    TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
    change(topology.links[0]);
    Simulation bursts(tier_, topology, TransportSpec{});
    const auto in_bursts = bursts.run_one(transfer(5'000'000)).completed_at;
    bursts.network.reset();
    bursts.clock.reset();  // one ns-3 clock at a time
    Simulation packets(tier_named("packet"), topology, TransportSpec{});
    EXPECT_EQ(packets.run_one(transfer(5'000'000)).completed_at, in_bursts);
  }
}

TEST_F(Burst, TwoClocksAtOnceAreABug) {
  const auto first = make_ns3_clock();
  EXPECT_DEATH((void)make_ns3_clock(), "two ns-3 clocks at once");
}

TEST_F(Burst, OneClockAfterAnotherBeginsAtZero) {
  for (int i = 0; i < 3; ++i) {
    const auto clock = make_ns3_clock();
    EXPECT_EQ(clock->now(), kRunStart);
    clock->schedule_in(1s, [] {});
    clock->run();
    EXPECT_EQ(clock->now(), kRunStart + 1s);
  }
}

}  // namespace
}  // namespace sluice
