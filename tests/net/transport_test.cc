// The halves of a connection without any network: what they send, count, lose and put in order.
#include <gtest/gtest.h>

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

TEST(CongestionWindow, SilenceBringsTheInitialWindowAndSlowStartUpToWhereItWas) {
  CongestionWindow window(limits(10));
  window.on_ack(kRunStart, kPacket * 90, 20ms);
  window.on_silence();
  EXPECT_EQ(window.size(), kPacket * 10);
  EXPECT_TRUE(window.in_slow_start());
  window.on_ack(kRunStart, kPacket * 500, 20ms);
  EXPECT_EQ(window.size(), kPacket * 70);  // 70 % of 100
}

// A sender with room for ten packets; each send takes one packet, since an eighth of the window is
// about that.
struct Sender {
  ConnectionSender sender{limits(10), DataSize::bytes(64'000)};
  std::vector<NumberedSegment> sent;
  void fill(Instant now) {
    while (const auto payload = sender.room(kPacket * 1000))
      sent.push_back(sender.send(now, 1, *payload));
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
    s.sender.on_ack(kRunStart + 20ms, n, n + 1);
    s.fill(kRunStart + 20ms);
  }
  EXPECT_EQ(s.sender.window(), kPacket * 20);
}

TEST(ConnectionSender, TheWindowDoesNotGrowWhileMostOfItIsUnused) {
  ConnectionSender sender(limits(10), kPacket);
  (void)sender.send(kRunStart, 1, kPacket);
  sender.on_ack(kRunStart + 20ms, 0, 1);
  EXPECT_EQ(sender.window(), kPacket * 10);
}

TEST(ConnectionSender, ASegmentIsAnEighthOfTheWindowOrWhatRemains) {
  const ConnectionSender sender(limits(80), DataSize::bytes(64'000));
  EXPECT_EQ(sender.room(kPacket * 1000), kPacket * 10);
  EXPECT_EQ(sender.room(kPacket), kPacket);
}

TEST(ConnectionSender, ASegmentIsLostOnceTheThirdAfterItArrived) {
  Sender s;
  s.fill(kRunStart);
  s.sender.on_ack(kRunStart + 20ms, 1, 0);
  s.sender.on_ack(kRunStart + 20ms, 2, 0);
  EXPECT_FALSE(s.sender.send_lost(kRunStart + 20ms));
  s.sender.on_ack(kRunStart + 20ms, 3, 0);
  const auto copy = s.sender.send_lost(kRunStart + 20ms);
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->segment.sequence, 0u);
  EXPECT_EQ(copy->number, 10u);  // a number of its own
  EXPECT_FALSE(s.sender.send_lost(kRunStart + 20ms));
}

TEST(ConnectionSender, ManyLossesOfOneRoundShrinkTheWindowOnce) {
  Sender s;
  s.fill(kRunStart);
  s.sender.on_ack(kRunStart + 20ms, 9,
                  0);  // only the last of ten arrived: seven before are lost at once
  EXPECT_EQ(s.sender.window(), kPacket * 7);
}

TEST(ConnectionSender, ACopyThatIsLostTooIsSentAgain) {
  Sender s;
  s.fill(kRunStart);
  for (const std::uint64_t n : {1, 2, 3, 4, 5, 6, 7, 8, 9}) s.sender.on_ack(kRunStart + 20ms, n, 0);
  ASSERT_EQ(s.sender.send_lost(kRunStart + 20ms)->number, 10u);
  s.fill(kRunStart + 20ms);
  ASSERT_GE(s.sent.size(), 13u);
  for (const std::uint64_t n : {11, 12, 13}) s.sender.on_ack(kRunStart + 40ms, n, 0);
  const auto again = s.sender.send_lost(kRunStart + 40ms);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->segment.sequence, 0u);
}

TEST(ConnectionSender, ALostAcknowledgementIsNoLoss) {
  Sender s;
  s.fill(kRunStart);
  s.sender.on_ack(kRunStart + 20ms, 9, 10);  // everything before sequence 10 has arrived
  EXPECT_FALSE(s.sender.send_lost(kRunStart + 20ms));
  EXPECT_TRUE(s.sender.is_idle());
}

TEST(ConnectionSender, TheTailIsProbedAfterTheProbeTimeoutAndTheWaitDoubles) {
  ConnectionSender sender(limits(10), kPacket);
  (void)sender.send(kRunStart, 1, kPacket);
  sender.on_ack(kRunStart + 20ms, 0, 1);
  EXPECT_FALSE(sender.probe_at());
  (void)sender.send(kRunStart + 20ms, 1, kPacket);
  // RFC 6298 after one sample of 20 ms: 20 + 4 * 10 ms.
  EXPECT_EQ(sender.probe_at(), kRunStart + 80ms);
  const NumberedSegment probe = sender.probe(kRunStart + 80ms);
  EXPECT_EQ(probe.segment.sequence, 1u);
  EXPECT_EQ(probe.number, 2u);
  EXPECT_EQ(sender.probe_at(), kRunStart + 80ms + 120ms);
  sender.on_ack(kRunStart + 100ms, 2, 2);
  EXPECT_TRUE(sender.is_idle());
}

TEST(ConnectionSender, AWindowSmallerThanAPacketInFlightStillLetsOneGo) {
  ConnectionSender sender(limits(1, 1), kPacket);
  EXPECT_EQ(sender.room(kPacket * 5), kPacket);
  (void)sender.send(kRunStart, 1, kPacket);
  EXPECT_EQ(sender.room(kPacket * 4), std::nullopt);
}

TEST(ConnectionReceiver, PutsSegmentsInOrderAndDropsSecondCopies) {
  ConnectionReceiver receiver;
  std::vector<Segment> out;
  const auto take = [&](std::uint64_t sequence) { receiver.take({1, sequence, kPacket}, out); };
  take(1);
  take(2);
  EXPECT_TRUE(out.empty());
  EXPECT_EQ(receiver.next_expected(), 0u);
  take(0);
  take(1);
  take(0);
  ASSERT_EQ(out.size(), 3u);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(out[i].sequence, i);
  EXPECT_EQ(receiver.next_expected(), 3u);
}

}  // namespace
}  // namespace sluice
