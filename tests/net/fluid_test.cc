// The fluid tier against numbers done by head. 1 Mbit/s is 125 bytes per ms; 1 Gbit/s is 125 bytes
// per us.
#include "sim/net/fluid/fluid_network.h"

#include <gtest/gtest.h>

#include "base/sim_clock.h"
#include "tests/net/net_fixture.h"

namespace sluice {
namespace {

using namespace net_test;

struct Fluid {
  Fluid(TopologySpec topology, const TransportSpec& transport)
      : network(clock, std::move(topology), transport) {}
  Diary::Page run_one(const Transfer& t) {
    const TransferId id = network.start(t, diary);
    clock.run();
    return diary.of(id);
  }
  SimClock clock;
  FluidNetwork network;
  Diary diary{clock, network};
};

TEST(Fluid, OneMegabyteOnOneGigabitPerSecondTakesEightMillisecondsAndARoundTrip) {
  Fluid fluid(one_cable(constant(mbps(1000)), 10ms), plain());
  // 10 ms for the request, 8 ms to send, 10 ms for the last byte.
  EXPECT_EQ(fluid.run_one(transfer(1'000'000)).completed_at, kRunStart + 28ms);
}

TEST(Fluid, TheTimeIsRoundedUpToANanosecondAndNotFurther) {
  Fluid fluid(one_cable(constant(mbps(3000)), 0ms), plain());
  // 1000 bytes are 8000 bits at 3 bits per ns: 2666.67 ns.
  EXPECT_EQ(fluid.run_one(transfer(1000)).completed_at, kRunStart + 2667ns);
}

TEST(Fluid, AContextOfSixHundredTwentyTwoMegabytesIsExactToTheNanosecond) {
  Fluid fluid(one_cable(constant(mbps(3000)), 100us), plain());
  // 622 MB are 4.976e9 bits at 3 bits per ns: 1 658 666 666.67 ns, and 200 us for the two ways.
  EXPECT_EQ(fluid.run_one(transfer(622'000'000)).completed_at, kRunStart + 1'658'666'667ns + 200us);
}

TEST(Fluid, AStepInTheMiddleOfATransferRetimesTheRest) {
  // 1 MB: 4 ms at 1 Gbit/s carry half of it, the other half takes 40 ms at 100 Mbit/s.
  Fluid fluid(one_cable(steps({{0ms, mbps(1000)}, {4ms, mbps(100)}}), 0ms), plain());
  EXPECT_EQ(fluid.run_one(transfer(1'000'000)).completed_at, kRunStart + 44ms);
}

TEST(Fluid, AnOutageIsWaitedFor) {
  Fluid fluid(one_cable(steps({{0ms, mbps(1000)}, {4ms, mbps(0)}, {104ms, mbps(1000)}}), 0ms),
              plain());
  EXPECT_EQ(fluid.run_one(transfer(1'000'000)).completed_at, kRunStart + 108ms);
}

TEST(Fluid, AnOutageForEverLeavesTheTransferUnfinishedAndTheClockDry) {
  Fluid fluid(one_cable(steps({{0ms, mbps(1000)}, {4ms, mbps(0)}}), 0ms), plain());
  const TransferId id = fluid.network.start(transfer(1'000'000), fluid.diary);
  fluid.clock.run();
  EXPECT_FALSE(fluid.diary.of(id).completed_at);
  EXPECT_EQ(fluid.network.delivered(id), DataSize::bytes(500'000));
}

TEST(Fluid, TheOffsetSaysWhereInTheTraceTheRunBegins) {
  TopologySpec topology = one_cable(steps({{0ms, mbps(1)}, {4ms, mbps(1000)}}), 0ms);
  topology.links[0].trace_offset = 4ms;
  Fluid fluid(topology, plain());
  EXPECT_EQ(fluid.run_one(transfer(1'000'000)).completed_at, kRunStart + 8ms);
}

TEST(Fluid, TwoTransfersShareALinkEquallyAndTheEndOfOneSpeedsUpTheOther) {
  Fluid fluid(one_cable(constant(mbps(1000)), 0ms), plain());
  const TransferId small = fluid.network.start(transfer(1'000'000, 1), fluid.diary);
  const TransferId large = fluid.network.start(transfer(3'000'000, 2), fluid.diary);
  fluid.clock.run();
  EXPECT_EQ(fluid.diary.of(small).completed_at, kRunStart + 16ms);  // 1 MB at half the rate
  EXPECT_EQ(fluid.diary.of(large).completed_at,
            kRunStart + 32ms);  // 1 MB at half, 2 MB at the whole rate
}

TEST(Fluid, TransfersOfOneGroupAreAnsweredOneAfterTheOther) {
  Fluid fluid(one_cable(constant(mbps(1000)), 5ms), plain());
  const TransferId first = fluid.network.start(transfer(1'000'000), fluid.diary);
  const TransferId second = fluid.network.start(transfer(1'000'000), fluid.diary);
  fluid.clock.run();
  EXPECT_EQ(fluid.diary.of(first).completed_at, kRunStart + 18ms);
  EXPECT_EQ(fluid.diary.of(second).completed_at, kRunStart + 26ms);  // no round trip between them
}

TEST(Fluid, EachPacketCarriesAHeader) {
  TransportSpec transport = plain();
  transport.count_headers = true;
  transport.header = DataSize::bytes(500);
  Fluid fluid(one_cable(constant(mbps(1000)), 0ms), transport);
  // 2500 bytes in packets of 1000 + 500: three headers, 4000 bytes, 32 us.
  EXPECT_EQ(fluid.run_one(transfer(2500)).completed_at, kRunStart + 32us);
}

TEST(Fluid, TheFirstPayloadByteComesAfterItsHeader) {
  TransportSpec transport = plain();
  transport.count_headers = true;
  transport.header = DataSize::bytes(124);
  Fluid fluid(one_cable(constant(mbps(1000)), 1ms), transport);
  // 1 ms for the request, 125 bytes at 1 Gbit/s, 1 ms on the way.
  EXPECT_EQ(fluid.run_one(transfer(100'000)).first_byte_at, kRunStart + 2ms + 1us);
}

TEST(Fluid, TheHandshakeCostsOneRoundTripOncePerGroup) {
  TransportSpec transport = plain();
  transport.handshake = true;
  Fluid fluid(one_cable(constant(mbps(1000)), 10ms), transport);
  EXPECT_EQ(fluid.run_one(transfer(1'000'000)).completed_at, kRunStart + 48ms);
  EXPECT_EQ(fluid.run_one(transfer(1'000'000)).completed_at, kRunStart + 48ms + 28ms);
  // Another group opens its own connection.
  EXPECT_EQ(fluid.run_one(transfer(1'000'000, 2)).completed_at, kRunStart + 48ms + 28ms + 48ms);
}

TEST(Fluid, AClosedGroupForgetsItsConnections) {
  TransportSpec transport = plain();
  transport.handshake = true;
  Fluid fluid(one_cable(constant(mbps(1000)), 10ms), transport);
  fluid.run_one(transfer(1'000'000));
  fluid.network.close(ConnectionGroup{1});
  EXPECT_EQ(fluid.run_one(transfer(1'000'000)).completed_at, kRunStart + 48ms + 48ms);
}

TEST(Fluid, AnEmptyTransferCompletesAfterTheRoundTripAndHasNoFirstByte) {
  Fluid fluid(one_cable(constant(mbps(1)), 10ms), TransportSpec{});
  const Diary::Page page = fluid.run_one(transfer(0));
  EXPECT_EQ(page.completed_at, kRunStart + 40ms);  // one for the handshake
  EXPECT_FALSE(page.first_byte_at);
}

// Windows of 10 packets of 1000 + 250 bytes: 12 500 wire bytes, 0.1 ms at 1 Gbit/s. RTT 2 ms: 250
// 000 wire bytes.
TransportSpec slow_start() {
  TransportSpec transport = plain();
  transport.slow_start = true;
  transport.count_headers = true;
  transport.header = DataSize::bytes(250);
  return transport;
}
TopologySpec slow_start_cable(LinkTrace capacity) {
  TopologySpec topology = one_cable(std::move(capacity), 1ms);
  for (LinkSpec& link : topology.links) link.mtu = DataSize::bytes(1250);
  return topology;
}

TEST(Fluid, SlowStartSendsAWindowThenWaitsForTheRoundToEnd) {
  Fluid fluid(slow_start_cable(constant(mbps(1000))), slow_start());
  // 1 ms request; rounds of 10 and 20 packets, 2 ms each; the last 5 of 35 packets are 50 us; 1 ms
  // on the way.
  EXPECT_EQ(fluid.run_one(transfer(35'000)).completed_at, kRunStart + 1ms + 2 * 2ms + 50us + 1ms);
}

TEST(Fluid, ATransferThatFitsTheInitialWindowPaysNoRound) {
  Fluid fluid(slow_start_cable(constant(mbps(1000))), slow_start());
  EXPECT_EQ(fluid.run_one(transfer(10'000)).completed_at, kRunStart + 1ms + 100us + 1ms);
}

TEST(Fluid, OnceTheWindowFillsTheLinkItIsNoLimit) {
  Fluid fluid(slow_start_cable(constant(mbps(1000))), slow_start());
  // 200 packets fill a round trip. Rounds of 10, 20, 40, 80, 160 (310 packets, 10 ms), then 320 >
  // 200: the link. Of 1310 packets 1000 remain: 10 ms.
  EXPECT_EQ(fluid.run_one(transfer(1'310'000)).completed_at, kRunStart + 1ms + 10ms + 10ms + 1ms);
}

TEST(Fluid, TheLastAcknowledgementsOfATransferLetTheWindowGrowToo) {
  Fluid fluid(slow_start_cable(constant(mbps(1000))), slow_start());
  // Rounds of 10 and 5 packets, after which the window is 25.
  const Instant first = *fluid.run_one(transfer(15'000)).completed_at;
  EXPECT_EQ(first, kRunStart + 1ms + 2ms + 50us + 1ms);
  // So of 30 packets 5 are left for the second round.
  EXPECT_EQ(fluid.run_one(transfer(30'000)).completed_at, first + 1ms + 2ms + 50us + 1ms);
}

TEST(Fluid, AWindowOfWhichLessThanHalfIsUsedDoesNotGrow) {
  Fluid fluid(slow_start_cable(constant(mbps(1000))), slow_start());
  const Instant small = *fluid.run_one(transfer(5'000)).completed_at;
  EXPECT_EQ(fluid.run_one(transfer(15'000)).completed_at, small + 1ms + 2ms + 50us + 1ms);
}

TEST(Fluid, AWindowOfWhichMoreThanHalfIsUsedGrowsToTwiceThat) {
  Fluid fluid(slow_start_cable(constant(mbps(1000))), slow_start());
  const Instant seven = *fluid.run_one(transfer(7'000)).completed_at;
  EXPECT_EQ(fluid.run_one(transfer(15'000)).completed_at, seven + 1ms + 2ms + 10us + 1ms);
}

// Rounds of 10, 20, 40, 80 and 160 packets. The acknowledgements of the 160 take 1.6 ms, but half
// of RTT and of the slack of 1 ms is 1.5 ms: slow start ends at 160 + 150 packets, and the last ten
// bring half a packet. Then the link is the limit for 1000 packets, which bring 50: 360.5.
TEST(Fluid, HyStartEndsSlowStartWithinATrainOfAcknowledgements) {
  const LinkTrace faster = steps({{0ms, mbps(1000)}, {21ms, mbps(4000)}});
  Fluid fluid(slow_start_cable(faster), slow_start());
  const Instant first = *fluid.run_one(transfer(1'310'000)).completed_at;
  EXPECT_EQ(first, kRunStart + 1ms + 10ms + 10ms + 1ms);
  // At four times the rate 360.5 packets are less than the 800 of a round trip: of 400 packets 39.5
  // of 2.5 us are left for the second round.
  EXPECT_EQ(fluid.run_one(transfer(400'000)).completed_at, first + 1ms + 2ms + 98'750ns + 1ms);
}

TEST(Fluid, WithoutHyStartTheWindowGoesOnGrowingByAllThatIsSent) {
  TransportSpec transport = slow_start();
  transport.hystart = false;
  Fluid fluid(slow_start_cable(steps({{0ms, mbps(1000)}, {21ms, mbps(4000)}})), transport);
  const Instant first = *fluid.run_one(transfer(1'310'000)).completed_at;
  EXPECT_EQ(fluid.run_one(transfer(400'000)).completed_at, first + 1ms + 1ms + 1ms);
}

TEST(Fluid, SharesBehindOneQueueGoByWindows) {
  Fluid fluid(slow_start_cable(constant(mbps(1000))), slow_start());
  fluid.network.start(transfer(100'000'000, 1), fluid.diary);
  TransferId small;
  fluid.clock.schedule(kRunStart + 20ms,
                       [&] { small = fluid.network.start(transfer(10'000, 2), fluid.diary); });
  fluid.clock.run(kRunStart + 40ms);
  // At 11 ms the window of the first is 310.5 packets and fills the link; by 21 ms a twentieth of
  // what was sent makes it 360.5. Ten packets of 370.5 take 370.5 packet times of 10 us.
  const Instant done = *fluid.diary.of(small).completed_at;
  EXPECT_NEAR(to_ms(done - kRunStart), 21 + 3.705 + 1, 0.001);
}

TEST(Fluid, ConnectionsMultiplyTheWindow) {
  Transfer t = transfer(35'000);
  t.connections = 4;
  Fluid fluid(slow_start_cable(constant(mbps(1000))), slow_start());
  EXPECT_EQ(fluid.run_one(t).completed_at, kRunStart + 1ms + 350us + 1ms);  // 35 of 40 packets
}

TEST(Fluid, TheWindowLastsOverTheTransfersOfAGroup) {
  Fluid fluid(slow_start_cable(constant(mbps(1000))), slow_start());
  const Instant first = *fluid.run_one(transfer(1'310'000)).completed_at;
  EXPECT_EQ(fluid.run_one(transfer(200'000)).completed_at, first + 1ms + 2ms + 1ms);
}

// How long `bytes` take after a load that left a window of 360.5 packets, and a silence.
Duration after_a_silence(Duration silence, std::int64_t bytes) {
  Fluid fluid(slow_start_cable(constant(mbps(1000))), slow_start());
  fluid.run_one(transfer(1'310'000));
  Instant begun{};
  TransferId id;
  fluid.clock.schedule_in(silence, [&] {
    begun = fluid.clock.now();
    id = fluid.network.start(transfer(bytes), fluid.diary);
  });
  fluid.clock.run();
  return *fluid.diary.of(id).completed_at - begun;
}

// The timeout is RTT + 200 ms = 202 ms; the silence ends with the request, 2 ms of way later.
TEST(Fluid, EachTimeoutOfSilenceHalvesTheWindow) {
  EXPECT_EQ(after_a_silence(190ms, 360'000), 1ms + 3600us + 1ms);  // the link is the limit
  // 180.25 packets in the first round, then 9.75 of 10 us.
  EXPECT_EQ(after_a_silence(300ms, 190'000), 1ms + 2ms + 97'500ns + 1ms);
  // 90.125 packets, then 9.875.
  EXPECT_EQ(after_a_silence(500ms, 100'000), 1ms + 2ms + 98'750ns + 1ms);
}

TEST(Fluid, ALongSilenceBringsTheInitialWindowBack) {
  EXPECT_EQ(after_a_silence(2s, 35'000), 1ms + 2 * 2ms + 50us + 1ms);
}

TEST(Fluid, TheLargestWindowLimitsTheRateForGood) {
  TransportSpec transport = slow_start();
  transport.max_window = DataSize::bytes(10'000);
  Fluid fluid(slow_start_cable(constant(mbps(1000))), transport);
  // Ten packets in each round of 2 ms, whatever the link: 9 rounds and the last window.
  EXPECT_EQ(fluid.run_one(transfer(100'000)).completed_at, kRunStart + 1ms + 9 * 2ms + 100us + 1ms);
}

TEST(Fluid, ARiseOfTheCapacityIsNotLimitedByAWindowThatGrewWithTheData) {
  // 10 Mbit/s: two packets per round trip, never limited by the window of 10; it grows by what is
  // acknowledged. 300 ms at 10 Mbit/s carry 300 packets, so the window passes the 200 that fill the
  // link at 1 Gbit/s.
  Fluid fluid(slow_start_cable(steps({{0ms, mbps(10)}, {301ms, mbps(1000)}})), slow_start());
  EXPECT_EQ(fluid.run_one(transfer(1'300'000)).completed_at, kRunStart + 301ms + 10ms + 1ms);
}

TEST(Fluid, AChunkClockedLinkTakesItsRateFromTheChunk) {
  const std::vector<DataRate> rates{mbps(1000), mbps(100)};
  Transfer t = transfer(1'000'000);
  for (const auto& [end, third] :
       {std::pair{TraceEnd::kLoop, 8ms}, std::pair{TraceEnd::kHold, 80ms}}) {
    Fluid fluid(one_cable(by_chunk(rates, end), 0ms), plain());
    t.chunk_index = 0;
    EXPECT_EQ(fluid.run_one(t).completed_at, kRunStart + 8ms);
    t.chunk_index = 1;
    EXPECT_EQ(fluid.run_one(t).completed_at, kRunStart + 8ms + 80ms);
    t.chunk_index = 2;  // past the end
    EXPECT_EQ(fluid.run_one(t).completed_at, kRunStart + 8ms + 80ms + third);
  }
}

TEST(Fluid, TransfersOnAChunkClockedLinkShareItsTimeEachAtItsOwnRate) {
  Fluid fluid(one_cable(by_chunk({mbps(1000), mbps(100)}, TraceEnd::kLoop), 0ms), plain());
  Transfer fast = transfer(1'000'000, 1), slow = transfer(1'000'000, 2);
  fast.chunk_index = 0;
  slow.chunk_index = 1;
  const TransferId fast_id = fluid.network.start(fast, fluid.diary);
  const TransferId slow_id = fluid.network.start(slow, fluid.diary);
  fluid.clock.run();
  EXPECT_EQ(fluid.diary.of(fast_id).completed_at, kRunStart + 16ms);  // half of 1 Gbit/s
  // Half of 100 Mbit/s for 16 ms are 0.1 MB; the other 0.9 MB take 72 ms.
  EXPECT_EQ(fluid.diary.of(slow_id).completed_at, kRunStart + 16ms + 72ms);
}

TEST(Fluid, WhatIsDeliveredLagsBehindWhatIsSentByTheDelay) {
  Fluid fluid(one_cable(steps({{0ms, mbps(1000)}, {5ms, mbps(100)}}), 1ms), plain());
  const TransferId id = fluid.network.start(transfer(2'000'000), fluid.diary);
  fluid.clock.run(kRunStart + 1500us);
  fluid.clock.schedule(kRunStart + 5500us, [&] {
    // Sent since 1 ms: 4 ms at 1 Gbit/s and 0.5 ms at 100 Mbit/s; arrived: what had been sent
    // by 4.5 ms.
    EXPECT_EQ(fluid.network.delivered(id), DataSize::bytes(437'500));
    const LinkUsage usage = fluid.network.usage(LinkId{0});
    EXPECT_EQ(usage.wire_sent, DataSize::bytes(506'250));
    EXPECT_EQ(usage.wire_delivered, DataSize::bytes(437'500));
    EXPECT_EQ(usage.capacity, DataSize::bytes(631'250));
  });
  fluid.clock.run();
  EXPECT_EQ(fluid.diary.of(id).at_completion, DataSize::bytes(2'000'000));
}

TEST(Fluid, TheSenderStopsHalfARoundTripAfterACancel) {
  Fluid fluid(one_cable(constant(mbps(1000)), 10ms), plain());
  const TransferId id = fluid.network.start(transfer(100'000'000), fluid.diary);
  fluid.clock.schedule(kRunStart + 30ms, [&] {
    EXPECT_EQ(fluid.network.cancel(id), DataSize::bytes(1'250'000));  // sent from 10 to 20 ms
  });
  fluid.clock.run();
  EXPECT_EQ(fluid.network.usage(LinkId{0}).wire_sent,
            DataSize::bytes(3'750'000));  // sent from 10 to 40 ms
}

TEST(Fluid, ProgressIsToldAtWholeMultiplesOfTheStep) {
  Fluid fluid(one_cable(constant(mbps(1000)), 1ms), plain());
  Transfer t = transfer(1'000'000);
  t.progress_every = DataSize::bytes(400'000);
  const Diary::Page page = fluid.run_one(t);
  ASSERT_EQ(page.progress.size(), 2u);  // the end is told by on_complete
  EXPECT_EQ(page.progress[0], std::pair(kRunStart + 5200us, DataSize::bytes(400'000)));
  EXPECT_EQ(page.progress[1], std::pair(kRunStart + 8400us, DataSize::bytes(800'000)));
}

TEST(Fluid, ManyTransfersUseTheWholeLinkAtAnyInstant) {
  Fluid fluid(one_cable(constant(mbps(1000)), 0ms), plain());
  for (std::uint64_t group = 1; group <= 7;
       ++group) {  // a seventh of 1 Gbit/s is no whole number of bit/s
    fluid.network.start(transfer(1'000'000'000, group), fluid.diary);
  }
  for (const Duration at : {Duration{1ms}, Duration{10ms}, Duration{1s}, Duration{9s}}) {
    fluid.clock.schedule(kRunStart + at, [&] {
      const LinkUsage usage = fluid.network.usage(LinkId{0});
      EXPECT_EQ(usage.wire_sent, usage.capacity);
    });
  }
  fluid.clock.run();
  EXPECT_LE(fluid.clock.now(),
            kRunStart + 56s + 1ns);  // the last bits of the slowest are rounded up
  EXPECT_EQ(fluid.network.usage(LinkId{0}).wire_delivered, DataSize::bytes(7'000'000'000));
}

// The rest of this file: several bottlenecks, weights, and what links do besides carrying.

struct NetworkOfThree {  // a --> b --> c, 12 and 6 Mbit/s
  static TopologySpec topology() {
    TopologySpec topology;
    topology.nodes = {"a", "b", "c"};
    LinkSpec link;
    link.name = "a-b";
    link.from = NodeId{0};
    link.to = NodeId{1};
    link.capacity = constant(mbps(12));
    add_cable(topology, link);
    link.name = "b-c";
    link.from = NodeId{1};
    link.to = NodeId{2};
    link.capacity = constant(mbps(6));
    add_cable(topology, link);
    return topology;
  }
  static Transfer between(int from, int to, std::int64_t bytes, std::uint64_t group) {
    Transfer t = transfer(bytes, group);
    t.from = NodeId{from};
    t.to = NodeId{to};
    return t;
  }
};

TEST(Fluid, WhatATransferCannotUseOnOneLinkGoesToTheOthersThere) {
  using Three = NetworkOfThree;
  Fluid fluid(Three::topology(), plain());
  // b-c is shared by two: 3 Mbit/s each. a-b then has 9 Mbit/s left for the one that stays on it.
  const TransferId across = fluid.network.start(Three::between(0, 2, 3'000'000, 1), fluid.diary);
  const TransferId second = fluid.network.start(Three::between(1, 2, 3'000'000, 2), fluid.diary);
  const TransferId first = fluid.network.start(Three::between(0, 1, 9'000'000, 3), fluid.diary);
  fluid.clock.run();
  for (const TransferId id : {across, second, first})
    EXPECT_EQ(fluid.diary.of(id).completed_at, kRunStart + 8s);
}

TEST(Fluid, ATransferOverThreeConnectionsWeighsThreeAgainstOne) {
  Fluid fluid(one_cable(constant(mbps(1000)), 0ms), plain());
  Transfer three = transfer(3'000'000, 1);
  three.connections = 3;
  const TransferId a = fluid.network.start(three, fluid.diary);
  const TransferId b = fluid.network.start(transfer(1'000'000, 2), fluid.diary);
  fluid.clock.run();
  EXPECT_EQ(fluid.diary.of(a).completed_at, kRunStart + 32ms);  // 750 Mbit/s
  EXPECT_EQ(fluid.diary.of(b).completed_at, kRunStart + 32ms);  // 250 Mbit/s
}

TEST(Fluid, ATransferHeldByItsWindowLeavesTheRestOfTheLink) {
  TransportSpec transport = slow_start();
  transport.max_window = DataSize::bytes(10'000);
  Fluid fluid(slow_start_cable(constant(mbps(1000))), transport);
  // Each sends ten packets of 1250 bytes per round of 2 ms, whatever the other does: 200 us of the
  // link for both together, and then silence.
  const TransferId a = fluid.network.start(transfer(100'000, 1), fluid.diary);
  const TransferId b = fluid.network.start(transfer(100'000, 2), fluid.diary);
  fluid.clock.run();
  for (const TransferId id : {a, b})
    EXPECT_EQ(fluid.diary.of(id).completed_at, kRunStart + 1ms + 9 * 2ms + 200us + 1ms);
}

TEST(Fluid, SomebodyWhoJoinsATransferInAPauseOfItsWindowHasTheLinkForThePause) {
  Fluid fluid(slow_start_cable(constant(mbps(1000))), slow_start());
  const TransferId slow = fluid.network.start(transfer(35'000, 1), fluid.diary);
  TransferId quick;
  fluid.clock.schedule(kRunStart + 1ms, [&] {  // its request arrives at 2 ms, data until 2.1 ms
    quick = fluid.network.start(transfer(10'000, 2), fluid.diary);
  });
  fluid.clock.run();
  EXPECT_EQ(fluid.diary.of(quick).completed_at, kRunStart + 2ms + 100us + 1ms);
  EXPECT_EQ(fluid.diary.of(slow).completed_at, kRunStart + 1ms + 2 * 2ms + 50us + 1ms);
}

// 400 Mbit/s of the link go to somebody who never yields, from 4 ms on 900.
TopologySpec beside_steady_flow() {
  TopologySpec topology = one_cable(constant(mbps(1000)), 0ms);
  topology.steady_flows.push_back({.name = "video",
                                   .from = kStore,
                                   .to = kGpu,
                                   .rate = steps({{0ms, mbps(400)}, {4ms, mbps(900)}})});
  return topology;
}

TEST(Fluid, WhoJoinsATransferThatFillsTheQueueCatchesUpWithIt) {
  // The window of a transfer without an end stops at what 20 ms and the queue hold, 2.5 MB and 1 MB
  // of 1 Gbit/s. The newcomer's doubles every 28 ms until it has made the queue 4 ms longer, half a
  // megabyte, and then grows by 5 % a round trip; it is there after some 40 of them. Its 125 MB
  // take 2 s at half of the link, and less than a second more for the beginning.
  TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
  topology.links[0].queue.limit = DataSize::bytes(1'000'000);
  Fluid fluid(std::move(topology), TransportSpec{});
  fluid.network.start(transfer(1'000'000'000'000, 1), fluid.diary);
  TransferId second{};
  fluid.clock.schedule(
      kRunStart + 5s, [&] { second = fluid.network.start(transfer(125'000'000, 2), fluid.diary); });
  fluid.clock.schedule(kRunStart + 20s, [&] { fluid.clock.stop(); });
  fluid.clock.run();
  ASSERT_TRUE(fluid.diary.of(second).completed_at);
  EXPECT_GE(*fluid.diary.of(second).completed_at, kRunStart + 7s);
  EXPECT_LE(*fluid.diary.of(second).completed_at, kRunStart + 8s);
}

TEST(Fluid, SteadyFlowsTakeTheirRateFirst) {
  Fluid fluid(beside_steady_flow(), plain());
  // 600 Mbit/s for 4 ms are 300 kB; the other 700 kB at 100 Mbit/s take 56 ms.
  EXPECT_EQ(fluid.run_one(transfer(1'000'000)).completed_at, kRunStart + 60ms);
}

TEST(Fluid, ALinksUsageCountsSteadyFlowsAndWhatOfThemItDrops) {
  TopologySpec topology = beside_steady_flow();
  topology.steady_flows.push_back(
      {.name = "more", .from = kStore, .to = kGpu, .rate = constant(mbps(200))});
  topology.links[0].delay = 1ms;
  Fluid fluid(topology, plain());
  fluid.network.start(transfer(1'000'000), fluid.diary);
  fluid.clock.schedule(kRunStart + 8ms, [&] {
    // The transfer has 400 Mbit/s of the first 4 ms (less the request's time of none), then none:
    // 600 + 400, then 1100 offered and 1000 carried. In bytes per ms: 125 000 per Gbit/s.
    const LinkUsage usage = fluid.network.usage(LinkId{0});
    EXPECT_EQ(usage.wire_sent, DataSize::bytes(4 * 125'000 + 4 * 137'500));
    EXPECT_EQ(usage.wire_dropped, DataSize::bytes(4 * 12'500));
    EXPECT_EQ(usage.wire_delivered, DataSize::bytes(7 * 125'000));  // what left by 7 ms
    EXPECT_EQ(usage.wire_in_flight, DataSize::bytes(125'000));
    EXPECT_EQ(usage.capacity, DataSize::bytes(8 * 125'000));
  });
  fluid.clock.run(kRunStart + 10ms);
}

TEST(Fluid, LossBoundsTheRateOfEachConnectionAndIsSentAgain) {
  TopologySpec topology = one_cable(constant(mbps(1000)), 5ms);
  topology.links[0].loss = RandomLoss{0.01};
  // 14.7 Mbit/s per connection (fluid_parts_test.cc) over 4 of them; 10 MB become 10.1.
  Transfer t = transfer(10'000'000);
  t.connections = 4;
  TransportSpec transport = plain();
  transport.header = DataSize::bytes(0);
  Fluid fluid(topology, transport);
  const double took = to_seconds(*fluid.run_one(t).completed_at);
  EXPECT_NEAR(took, 0.01 + 10e6 / 0.99 * 8 / (4 * 14.697e6), 0.001);
  const LinkUsage usage = fluid.network.usage(LinkId{0});
  EXPECT_EQ(usage.wire_sent, usage.wire_delivered + usage.wire_dropped);
  EXPECT_NEAR(static_cast<double>(usage.wire_dropped.bytes()), 101'010, 1);
}

TEST(Fluid, ALinkThatLosesEverythingNeverDelivers) {
  TopologySpec topology = one_cable(constant(mbps(1000)), 5ms);
  topology.links[0].loss = RandomLoss{1};
  Fluid fluid(topology, plain());
  EXPECT_FALSE(fluid.run_one(transfer(1000)).completed_at);
}

TEST(Fluid, AByteTakesTheDelayOfTheInstantAtWhichItLeaves) {
  TopologySpec topology = one_cable(constant(mbps(1000)), 1ms);
  DelayTrace delay;
  delay.steps = {{0ms, 1ms}, {5ms, 20ms}};
  delay.length = 10ms;
  delay.end = TraceEnd::kHold;
  topology.links[0].delay_trace = delay;
  Fluid fluid(topology, plain());
  // Request 1 ms, data from 1 to 9 ms; the first byte meets 1 ms of delay, the last one 20 ms.
  const Diary::Page page = fluid.run_one(transfer(1'000'000));
  EXPECT_EQ(page.first_byte_at, kRunStart + 2ms + 8ns);
  EXPECT_EQ(page.completed_at, kRunStart + 29ms);
}

// The order and times of everything, as text.
std::string story_of(const TopologySpec& topology) {
  Fluid fluid(topology, TransportSpec{});
  std::vector<TransferId> ids;
  for (std::uint64_t group = 1; group <= 9; ++group) {
    Transfer t = transfer(static_cast<std::int64_t>(group) * 700'000, group);
    t.connections = 1 + static_cast<std::int32_t>(group % 3);
    t.progress_every = DataSize::bytes(500'000);
    fluid.clock.schedule(kRunStart + std::chrono::milliseconds{group},
                         [&fluid, &ids, t] { ids.push_back(fluid.network.start(t, fluid.diary)); });
  }
  fluid.clock.run();
  std::string story;
  for (const TransferId id : ids) {
    const Diary::Page& page = fluid.diary.of(id);
    story += std::to_string(to_ns(*page.first_byte_at)) + ' ';
    for (const auto& [at, size] : page.progress) story += std::to_string(to_ns(at)) + ' ';
    story += std::to_string(to_ns(*page.completed_at)) + '\n';
  }
  const LinkUsage usage = fluid.network.usage(LinkId{0});
  return story + std::to_string(usage.wire_sent.bytes());
}

TEST(Fluid, TheSameSeedGivesTheSameTimesToTheNanosecond) {
  TopologySpec topology = beside_steady_flow();
  topology.links[0].delay = 3ms;
  topology.links[0].jitter = 1ms;
  topology.links[0].loss = BurstLoss{.mean_good = 1s, .mean_bad = 10ms};
  EXPECT_EQ(story_of(topology), story_of(topology));
}

}  // namespace
}  // namespace sluice
