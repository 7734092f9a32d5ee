// The halves of a connection without any network: what they send, count, lose and put in order.
#include <gtest/gtest.h>

#include <tuple>

#include "sim/net/transport/connection_receiver.h"
#include "sim/net/transport/connection_sender.h"
#include "tests/net/net_fixture.h"

namespace sluice {
namespace {

using namespace net_test;

constexpr DataSize kPacket = DataSize::bytes(1000);

CongestionLimits limits(std::int64_t initial_packets, std::int64_t max_packets = 100'000) {
  CongestionLimits of;
  of.packet = kPacket;
  of.initial = kPacket * initial_packets;
  of.max = kPacket * max_packets;
  return of;
}

TEST(CongestionWindow, SlowStartGrowsByWhatIsAcknowledged) {
  CongestionWindow window(limits(10));
  window.on_ack(kRunStart, kPacket * 10, 20ms);
  EXPECT_EQ(window.size(), kPacket * 20);
  EXPECT_TRUE(window.in_slow_start());
}

TEST(CongestionWindow, TheLargestWindowIsKept) {
  CongestionWindow window(limits(10, 15));
  window.on_ack(kRunStart, kPacket * 10, 20ms);
  EXPECT_EQ(window.size(), kPacket * 15);
}

TEST(CongestionWindow, ALossTakesThirtyPercent) {
  CongestionWindow window(limits(1000));
  window.on_loss();
  EXPECT_EQ(window.size(), kPacket * 700);
  EXPECT_FALSE(window.in_slow_start());
}

// RFC 9438: K = cbrt(W_max (1 - 0.7) / 0.4). From 1000 packets: cbrt(750) = 9.09 s until the window
// is back.
TEST(CongestionWindow, CubicIsBackAtTheOldWindowAfterKSeconds) {
  CongestionWindow window(limits(1000));
  window.on_loss();
  Instant now = kRunStart;
  for (; now < kRunStart + 9s; now += 100ms) window.on_ack(now, window.size(), 100ms);
  EXPECT_NEAR(static_cast<double>(window.size().bytes()), 1e6, 1e4);
  const DataSize plateau = window.size();
  for (; now < kRunStart + 14s; now += 100ms) window.on_ack(now, window.size(), 100ms);
  EXPECT_GT(window.size(), plateau + kPacket * 40);  // 0.4 * 5^3 = 50 packets above, 5 s later
}

// Linux grows by a packet for 20 acknowledged ones until it knows where packets are lost.
TEST(CongestionWindow, AfterSlowStartWithoutALossItGrowsByATwentiethOfWhatIsAcknowledged) {
  CongestionWindow window(limits(100));
  window.leave_slow_start();
  EXPECT_FALSE(window.in_slow_start());
  window.on_ack(kRunStart, kPacket * 100, 20ms);
  EXPECT_EQ(window.size(), kPacket * 105);
  window.on_loss();  // 73.5; now W_max is known, and K = cbrt(0.3 * 105 / 0.4) = 4.3 s
  window.on_ack(kRunStart, kPacket * 73, 20ms);
  EXPECT_LT(window.size(), kPacket * 75);
}

TEST(CongestionWindow, EachTimeoutOfSilenceHalvesItDownToTheInitialOne) {
  CongestionWindow window(limits(10));
  window.on_ack(kRunStart, kPacket * 90, 20ms);
  window.leave_slow_start();
  window.on_silence(0);
  EXPECT_EQ(window.size(), kPacket * 100);
  window.on_silence(1);
  EXPECT_EQ(window.size(), kPacket * 50);
  window.on_silence(2);
  EXPECT_EQ(window.size(), DataSize::bytes(12'500));
  window.on_silence(1'000'000);
  EXPECT_EQ(window.size(), kPacket * 10);
}

TEST(CongestionWindow, AfterASilenceSlowStartGoesUpToThreeQuartersOfWhatItWas) {
  CongestionWindow window(limits(10));
  window.on_ack(kRunStart, kPacket * 90, 20ms);
  window.leave_slow_start();
  window.on_silence(3);
  EXPECT_TRUE(window.in_slow_start());
  window.on_ack(kRunStart, kPacket * 500, 20ms);
  EXPECT_EQ(window.size(), kPacket * 100);  // where it was found full
  window.on_ack(kRunStart, kPacket * 2000, 20ms);
  EXPECT_EQ(window.size(), kPacket * 200);
  window.on_silence(5);
  window.on_ack(kRunStart, kPacket * 500, 20ms);
  EXPECT_EQ(window.size(), kPacket * 150);
}

// A connection with a round trip of 20 ms and 100 packets of window, of which `packets` are
// acknowledged every `gap`, two by two.
struct Watched {
  HyStart hystart{false};
  Instant now = kRunStart;
  std::uint64_t acked = 0;
  DataSize window = kPacket * 100;
  bool ack(Duration gap, Duration round_trip, std::int64_t packets = 2) {
    now += gap;
    acked += static_cast<std::uint64_t>(packets);
    return hystart.ends_at({.now = now,
                            .round_trip = round_trip,
                            .smoothed = 20ms,
                            .num_packets = packets,
                            .acked_until = acked,
                            .next_number = acked + 98,
                            .window = window,
                            .window_packets = window.bytes() / kPacket.bytes()});
  }
};

// Half of 20 ms and of the millisecond that super-segments may take: acknowledgements each 0.5 ms
// are too long a train with the 22nd after the first.
TEST(HyStart, EndsSlowStartWhenAcknowledgementsComeWithoutAGapForHalfARoundTrip) {
  Watched watched;
  EXPECT_FALSE(watched.ack(20ms, 20ms));
  for (int i = 1; i <= 21; ++i) EXPECT_FALSE(watched.ack(500us, 20ms)) << i;
  EXPECT_TRUE(watched.ack(500us, 20ms));
}

TEST(HyStart, AGapOfMoreThanTwoMillisecondsEndsTheTrain) {
  Watched watched;
  (void)watched.ack(20ms, 20ms);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(watched.ack(500us, 20ms));
  EXPECT_FALSE(watched.ack(2001us, 20ms));
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(watched.ack(500us, 20ms)) << i;
}

// A burst of 20 packets stands for ten acknowledgements, so it may take ten gaps.
TEST(HyStart, BurstsMakeATrainAsTheirPacketsWould) {
  Watched watched;
  EXPECT_FALSE(watched.ack(20ms, 20ms, 20));
  EXPECT_FALSE(watched.ack(10ms, 20ms, 20));
  EXPECT_TRUE(watched.ack(10ms, 20ms, 20));
}

// 20 ms / 8 is less than the least of 4 ms: more than 24 ms in eight samples and the one that asks.
TEST(HyStart, EndsSlowStartWhenAllOfARoundIsLate) {
  Watched watched;
  (void)watched.ack(20ms, 20ms);
  for (int i = 0; i < 48; ++i) (void)watched.ack(3ms, 20ms);  // no train
  EXPECT_FALSE(watched.ack(3ms, 24'001us));                   // number 99, the last of the round
  for (int i = 0; i < 8; ++i) EXPECT_FALSE(watched.ack(3ms, 24'001us)) << i;
  EXPECT_TRUE(watched.ack(3ms, 24'001us));
}

TEST(HyStart, OneSampleInTimeSavesTheRound) {
  Watched watched;
  (void)watched.ack(20ms, 20ms);
  EXPECT_FALSE(watched.ack(3ms, 24ms));
  for (int i = 0; i < 40; ++i) EXPECT_FALSE(watched.ack(3ms, 50ms)) << i;
}

TEST(HyStart, LeavesAWindowOfLessThanSixteenPacketsAlone) {
  Watched watched;
  watched.window = kPacket * 15;
  for (int i = 0; i < 40; ++i) EXPECT_FALSE(watched.ack(500us, i < 2 ? 20ms : 60ms)) << i;
}

// A sender with room for ten packets; each send takes one packet, since an eighth of the window is
// about that.
struct Sender {
  ConnectionSender sender{limits(10), DataSize::bytes(64'000), false};
  std::vector<NumberedSegment> sent;
  void fill(Instant now) {
    while (const auto payload = sender.room(now, kPacket * 1000))
      sent.push_back(sender.send(now, 1, *payload, false));
  }
};

TEST(ConnectionSender, SendsAWindowAndThenWaits) {
  Sender s;
  s.fill(kRunStart);
  EXPECT_EQ(s.sent.size(), 10u);
  EXPECT_EQ(s.sent.back().number, 9u);
  EXPECT_EQ(s.sent.back().segment.sequence, 9u);
}

TEST(ConnectionSender, TheWindowDoublesInARoundTripThatUsedIt) {
  Sender s;
  s.fill(kRunStart);
  for (std::uint64_t n = 0; n < 10; ++n) {
    s.sender.on_ack(kRunStart + 20ms, {n, n, n + 1});
    s.fill(kRunStart + 20ms);
  }
  EXPECT_EQ(s.sender.window(), kPacket * 20);
}

TEST(ConnectionSender, TheWindowDoesNotGrowWhileMostOfItIsUnused) {
  ConnectionSender sender(limits(10), kPacket, false);
  (void)sender.send(kRunStart, 1, kPacket, false);
  sender.on_ack(kRunStart + 20ms, {0, 0, 1});
  EXPECT_EQ(sender.window(), kPacket * 10);
}

// The window was in use when the last packet left, and stays so until that is acknowledged.
TEST(ConnectionSender, TheLastAcknowledgementsOfATransferLetTheWindowGrowToo) {
  Sender s;
  s.fill(kRunStart);
  for (std::uint64_t n = 0; n < 10; ++n) s.sender.on_ack(kRunStart + 20ms, {n, n, n + 1});
  EXPECT_TRUE(s.sender.is_idle());
  EXPECT_EQ(s.sender.window(), kPacket * 20);
}

// Two windows of 16 and 32 packets at a packet each ms: acknowledgements of the first come for 15
// ms, longer than half a round trip and its slack, 10.5 ms, which the twelfth is the first to pass.
CongestionLimits sixteen_packets(bool hystart) {
  CongestionLimits of = limits(16);
  of.hystart = hystart;
  return of;
}
DataSize window_after_a_train(bool hystart) {
  ConnectionSender sender(sixteen_packets(hystart), kPacket, false);
  for (int i = 0; i < 16; ++i) (void)sender.send(kRunStart, 1, kPacket, false);
  for (std::uint64_t n = 0; n < 16; ++n) {
    const Instant now = kRunStart + 20ms + n * 1ms;
    sender.on_ack(now, {n, n, n + 1});
    while (sender.room(now, kPacket)) (void)sender.send(now, 1, kPacket, false);
  }
  return sender.window();
}

TEST(ConnectionSender, SlowStartEndsWithinTheTrainAndGoesOnByATwentieth) {
  EXPECT_EQ(window_after_a_train(false), kPacket * 32);
  // Eleven packets by slow start, the other five a twentieth of a packet each.
  EXPECT_EQ(window_after_a_train(true), DataSize::bytes(27'250));
}

TEST(ConnectionSender, ASegmentIsAnEighthOfTheWindowOrWhatRemains) {
  const ConnectionSender sender(limits(80), DataSize::bytes(64'000), false);
  EXPECT_EQ(sender.room(kRunStart, kPacket * 1000), kPacket * 10);
  EXPECT_EQ(sender.room(kRunStart, kPacket), kPacket);
}

TEST(ConnectionSender, ASegmentIsLostOnceTheThirdAfterItArrived) {
  Sender s;
  s.fill(kRunStart);
  s.sender.on_ack(kRunStart + 20ms, {1, 1, 0});
  s.sender.on_ack(kRunStart + 20ms, {2, 2, 0});
  EXPECT_FALSE(s.sender.send_lost(kRunStart + 20ms));
  s.sender.on_ack(kRunStart + 20ms, {3, 3, 0});
  const auto copy = s.sender.send_lost(kRunStart + 20ms);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->segment.sequence, 0u);
  EXPECT_EQ(copy->number, 10u);  // a number of its own
  EXPECT_FALSE(s.sender.send_lost(kRunStart + 20ms));
}

TEST(ConnectionSender, ManyLossesOfOneRoundShrinkTheWindowOnce) {
  Sender s;
  s.fill(kRunStart);
  s.sender.on_ack(kRunStart + 20ms,
                  {9, 9, 0});  // only the last of ten arrived: seven before are lost at once
  EXPECT_EQ(s.sender.window(), kPacket * 7);
}

TEST(ConnectionSender, ACopyThatIsLostTooIsSentAgain) {
  Sender s;
  s.fill(kRunStart);
  for (const std::uint64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9})
    s.sender.on_ack(kRunStart + 20ms, {n, n, 0});
  ASSERT_EQ(s.sender.send_lost(kRunStart + 20ms)->number, 10u);
  s.fill(kRunStart + 20ms);
  ASSERT_GE(s.sent.size(), 13u);
  for (const std::uint64_t n : {11, 12, 13}) s.sender.on_ack(kRunStart + 40ms, {n, n, 0});
  const auto again = s.sender.send_lost(kRunStart + 40ms);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->segment.sequence, 0u);
}

TEST(ConnectionSender, ALostAcknowledgementIsNoLoss) {
  Sender s;
  s.fill(kRunStart);
  s.sender.on_ack(kRunStart + 20ms, {9, 9, 10});  // everything before sequence 10 has arrived
  EXPECT_FALSE(s.sender.send_lost(kRunStart + 20ms));
  EXPECT_TRUE(s.sender.is_idle());
}

// RFC 6298 after one sample of 20 ms: 20 + 4 * 10 ms; RFC 8985 allows two round trips: 40 ms.
TEST(ConnectionSender, TheTailIsProbedAfterTwoRoundTripsAndTheWaitDoubles) {
  ConnectionSender sender(limits(10), kPacket, false);
  (void)sender.send(kRunStart, 1, kPacket, false);
  sender.on_ack(kRunStart + 20ms, {0, 0, 1});
  EXPECT_FALSE(sender.gives_up_at());
  (void)sender.send(kRunStart + 20ms, 1, kPacket, true);
  EXPECT_EQ(sender.gives_up_at(), kRunStart + 60ms);
  const auto probe = sender.give_up(kRunStart + 60ms);
  ASSERT_TRUE(probe);
  EXPECT_EQ(probe->segment.sequence, 1u);
  EXPECT_EQ(probe->number, 2u);
  EXPECT_EQ(sender.gives_up_at(), kRunStart + 60ms + 80ms);
  sender.on_ack(kRunStart + 80ms, {2, 2, 2});
  EXPECT_TRUE(sender.is_idle());
}

TEST(ConnectionSender, ASinglePacketWhoseAcknowledgementMayBeKeptBackIsGivenThatTime) {
  ConnectionSender sender(limits(10), kPacket, false);
  sender.on_handshake(20ms);
  (void)sender.send(kRunStart, 1, kPacket, false);
  EXPECT_EQ(sender.gives_up_at(), kRunStart + 80ms);
  (void)sender.send(kRunStart, 1, kPacket, false);
  EXPECT_EQ(sender.gives_up_at(), kRunStart + 40ms);
}

// Of two packets only the second arrived, after 20 ms: after 9/8 of that the first is lost.
TEST(ConnectionSender, ALossWithTooFewPacketsAfterItIsFoundByItsAge) {
  ConnectionSender sender(limits(10), kPacket, false);
  for (int i = 0; i < 2; ++i) (void)sender.send(kRunStart, 1, kPacket, i == 1);
  sender.on_ack(kRunStart + 20ms, {1, 1, 0});
  EXPECT_EQ(sender.gives_up_at(), kRunStart + 22'500us);
  EXPECT_FALSE(sender.give_up(kRunStart + 22'500us));
  EXPECT_EQ(sender.window(), kPacket * 7);
  const auto copy = sender.send_lost(kRunStart + 22'500us);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->segment.sequence, 0u);
}

TEST(ConnectionSender, OneAcknowledgementSettlesTheWholeRunItNames) {
  Sender s;
  s.fill(kRunStart);
  s.sender.on_ack(kRunStart + 20ms, {0, 4, 5});
  EXPECT_EQ(s.sender.window(), kPacket * 15);
  s.fill(kRunStart + 20ms);
  EXPECT_EQ(s.sent.size(), 20u);
}

// Number 5 is missing; the acknowledgements of 6 and 7 were lost, that of the run 6 .. 9 came.
TEST(ConnectionSender, ARunMakesLostAcknowledgementsGood) {
  Sender s;
  s.fill(kRunStart);
  s.sender.on_ack(kRunStart + 20ms, {0, 4, 5});
  s.sender.on_ack(kRunStart + 20ms, {6, 9, 5});
  const auto copy = s.sender.send_lost(kRunStart + 20ms);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->segment.sequence, 5u);
  EXPECT_FALSE(s.sender.send_lost(kRunStart + 20ms));
}

TEST(ConnectionSender, AnAcknowledgementThatWasKeptBackIsNoSampleOfTheRoundTrip) {
  ConnectionSender sender(limits(10), kPacket, false);
  sender.on_handshake(20ms);
  (void)sender.send(kRunStart, 1, kPacket, false);
  sender.on_ack(kRunStart + 60ms, {0, 0, 1, true});
  for (int i = 0; i < 2; ++i) (void)sender.send(kRunStart + 60ms, 1, kPacket, false);
  EXPECT_EQ(sender.gives_up_at(), kRunStart + 60ms + 40ms);  // of 20 ms as before
}

TEST(ConnectionSender, AfterTwoProbesWithoutAnAnswerALossMeansToBeginAnew) {
  Sender s;
  s.sender.on_handshake(20ms);
  s.fill(kRunStart);
  const Instant first = *s.sender.gives_up_at();
  EXPECT_EQ(s.sender.give_up(first)->number, 10u);
  const Instant second = *s.sender.gives_up_at();
  EXPECT_EQ(s.sender.give_up(second)->number, 11u);
  s.sender.on_ack(second + 20ms, {11, 11, 1});  // the first segment arrived with the second probe
  EXPECT_EQ(s.sender.window(), kPacket * 2);
  EXPECT_EQ(s.sender.send_lost(second + 20ms)->segment.sequence, 1u);
}

// A window of ten packets and a round trip of 12 ms: in slow start one leaves each 0.6 ms.
TEST(ConnectionSender, PacedPacketsLeaveEvenly) {
  ConnectionSender sender(limits(10), kPacket, true);
  sender.on_handshake(12ms);
  Instant now = kRunStart;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(sender.room(now, kPacket * 100)) << i;
    (void)sender.send(now, 1, kPacket, false);
    if (i == 9) break;
    EXPECT_FALSE(sender.room(now, kPacket * 100)) << i;
    EXPECT_EQ(sender.resumes_at(now), now + 600us) << i;
    now += 600us;
  }
  EXPECT_FALSE(sender.resumes_at(now)) << "now the window is what it waits for";
}

TEST(ConnectionSender, AWindowSmallerThanAPacketInFlightStillLetsOneGo) {
  ConnectionSender sender(limits(1, 1), kPacket, false);
  EXPECT_EQ(sender.room(kRunStart, kPacket * 5), kPacket);
  (void)sender.send(kRunStart, 1, kPacket, false);
  EXPECT_EQ(sender.room(kRunStart, kPacket * 4), std::nullopt);
}

// Takes copies numbered as they come, one full packet each.
struct Receiver {
  ConnectionReceiver receiver{kPacket};
  std::vector<Segment> out;
  std::uint64_t next_number = 0;
  bool take(std::uint64_t sequence, bool is_last = false) {
    return receiver.take({{1, sequence, kPacket, is_last}, next_number++}, out);
  }
  bool take_after_a_gap(std::uint64_t sequence) {
    ++next_number;
    return take(sequence);
  }
  std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> acknowledge() {
    const Acknowledgement ack = receiver.acknowledge();
    return {ack.first, ack.last, ack.next_expected};
  }
};

TEST(ConnectionReceiver, PutsSegmentsInOrderAndDropsSecondCopies) {
  Receiver r;
  (void)r.take(1);
  (void)r.take(2);
  EXPECT_TRUE(r.out.empty());
  (void)r.take(0);
  (void)r.take(1);
  (void)r.take(0);
  ASSERT_EQ(r.out.size(), 3u);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(r.out[i].sequence, i);
  EXPECT_EQ(r.receiver.acknowledge().next_expected, 3u);
}

TEST(ConnectionReceiver, AcknowledgesEverySecondPacketInLine) {
  Receiver r;
  EXPECT_FALSE(r.take(0));
  EXPECT_TRUE(r.receiver.owes_acknowledgement());
  EXPECT_TRUE(r.take(1));
  EXPECT_EQ(r.acknowledge(), std::tuple(0, 1, 2));
  EXPECT_FALSE(r.receiver.owes_acknowledgement());
  EXPECT_FALSE(r.take(2));
}

TEST(ConnectionReceiver, AcknowledgesTheEndOfATransferAtOnce) {
  Receiver r;
  EXPECT_TRUE(r.take(0, true));
}

TEST(ConnectionReceiver, AcknowledgesASegmentOfTwoPacketsAtOnce) {
  ConnectionReceiver receiver(kPacket);
  std::vector<Segment> out;
  EXPECT_TRUE(receiver.take({{1, 0, kPacket * 2}, 0}, out));
}

TEST(ConnectionReceiver, AcknowledgesAGapWhatFollowsItAndItsRepairAtOnce) {
  Receiver r;
  EXPECT_FALSE(r.take(0));
  EXPECT_TRUE(r.take_after_a_gap(2));
  EXPECT_EQ(r.acknowledge(), std::tuple(2, 2, 1));
  EXPECT_TRUE(r.take(3));
  EXPECT_EQ(r.acknowledge(), std::tuple(2, 3, 1));
  EXPECT_TRUE(r.take(1));  // the copy, with the number after
  EXPECT_EQ(r.acknowledge(), std::tuple(2, 4, 4));
  EXPECT_FALSE(r.take(4));
}

TEST(ConnectionReceiver, AcknowledgesASecondCopyAtOnce) {
  Receiver r;
  (void)r.take(0);
  (void)r.receiver.acknowledge();
  EXPECT_TRUE(r.take(0));
}

}  // namespace
}  // namespace sluice
