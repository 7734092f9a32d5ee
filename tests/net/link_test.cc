// What a link does to packets, each part by itself: queue, discipline, loss, delay.
#include <gtest/gtest.h>

#include <cmath>

#include "sim/net/link/link_queue.h"
#include "sim/net/link/packet_fate.h"
#include "tests/net/net_fixture.h"

namespace sluice {
namespace {

using namespace net_test;

constexpr DataSize kPacket = DataSize::bytes(1500);
constexpr DataSize kLong = DataSize::bytes(1'000'000);

LinkSpec link_with(QueueSpec queue) {
  LinkSpec link;
  link.queue = std::move(queue);
  return link;
}

class Waiting {
 public:
  explicit Waiting(QueueSpec queue)
      : link_(link_with(std::move(queue))), queue_(link_, RandomStream(1)) {}
  bool push(Instant at, DataSize size, bool wire_is_free = false, bool can_be_marked = false) {
    return queue_.push({at, size, wire_is_free, can_be_marked}, num_pushed_++,
                       [this](int packet) { marked.push_back(packet); });
  }
  std::optional<int> pop(Instant now) {
    return queue_.pop(now, [this](DataSize size) { dropped += size; });
  }
  [[nodiscard]] DataSize size() const { return queue_.size(); }
  DataSize dropped;  // from the head
  std::vector<int> marked;

 private:
  LinkSpec link_;
  LinkQueue<int> queue_;
  int num_pushed_ = 0;
};

TEST(DropTailQueue, HoldsItsLimitToTheByteAndKeepsTheOrder) {
  Waiting queue({.limit = DataSize::bytes(4500)});
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.push(kRunStart, kPacket));
  EXPECT_FALSE(queue.push(kRunStart, DataSize::bytes(1)));
  EXPECT_EQ(queue.size(), DataSize::bytes(4500));
  EXPECT_EQ(queue.pop(kRunStart), 0);
  EXPECT_TRUE(queue.push(kRunStart, kPacket));
  EXPECT_EQ(queue.pop(kRunStart), 1);
  EXPECT_EQ(queue.pop(kRunStart), 2);
  EXPECT_EQ(queue.pop(kRunStart), 4);  // 3 was refused
  EXPECT_EQ(queue.pop(kRunStart), std::nullopt);
  EXPECT_EQ(queue.size(), DataSize::zero());
}

TEST(DropTailQueue, OfNoBytesLetsThroughWhatFindsTheWireFree) {
  Waiting queue({.limit = DataSize::zero()});
  EXPECT_FALSE(queue.push(kRunStart, kPacket));
  EXPECT_TRUE(queue.push(kRunStart, kPacket, true));
}

// The instants at which a queue that stands at 100 ms loses packets, one leaving each millisecond.
std::vector<std::int64_t> drops_ms(CoDelLaw& law, int from_ms, int until_ms) {
  std::vector<std::int64_t> drops;
  for (int ms = from_ms; ms < until_ms; ++ms) {
    while (law.drops(kRunStart + std::chrono::milliseconds{ms}, 100ms, kLong)) drops.push_back(ms);
  }
  return drops;
}

// RFC 8289: the first after an interval above the target, then intervals of 100 ms over the root
// of the count: 100, +100, +70.7, +57.7, +50, +44.7.
TEST(CoDel, DropsFromAStandingQueueAtTheRootOfTheCount) {
  CoDelLaw law({}, kPacket);
  EXPECT_EQ(drops_ms(law, 0, 440), (std::vector<std::int64_t>{100, 200, 271, 329, 379, 424}));
}

TEST(CoDel, OnePacketBelowTheTargetEndsTheDropping) {
  CoDelLaw law({}, kPacket);
  EXPECT_EQ(drops_ms(law, 0, 150).size(), 1u);
  EXPECT_FALSE(law.drops(kRunStart + 150ms, 4ms, kLong));
  EXPECT_EQ(drops_ms(law, 151, 251).size(), 0u);  // an interval anew
  EXPECT_EQ(drops_ms(law, 251, 252).size(), 1u);
}

// Six drops in the first time; the next soon after begins with the count of 6 - 1, the drops since
// the first one: 100 / sqrt(5) = 44.7 ms until the second.
TEST(CoDel, BeginsAgainWhereItWasWhenTheQueueComesBackSoon) {
  CoDelLaw law({}, kPacket);
  EXPECT_EQ(drops_ms(law, 0, 440).size(), 6u);
  EXPECT_FALSE(law.drops(kRunStart + 440ms, 4ms, kLong));
  EXPECT_EQ(drops_ms(law, 441, 600), (std::vector<std::int64_t>{541, 586}));
}

TEST(CoDel, AQueueOfOnePacketIsNeverTooLong) {
  CoDelLaw law({}, kPacket);
  for (int ms = 0; ms < 1000; ++ms)
    EXPECT_FALSE(law.drops(kRunStart + std::chrono::milliseconds{ms}, 1s, kPacket));
}

TEST(CoDel, TheQueueDropsFromTheHead) {
  Waiting queue({.discipline = CoDel{}});
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(queue.push(kRunStart, kPacket));
  EXPECT_EQ(queue.pop(kRunStart + 10ms), 0);  // above the target from here on
  EXPECT_EQ(queue.pop(kRunStart + 109ms), 1);
  EXPECT_EQ(queue.pop(kRunStart + 110ms), 3);  // 2 is dropped
  EXPECT_EQ(queue.dropped, kPacket);
  EXPECT_EQ(queue.size(), kPacket * 96);
}

Red red_of(double weight) {
  return {.low = DataSize::bytes(30'000),
          .high = DataSize::bytes(90'000),
          .probability = 0.1,
          .weight = weight};
}

// How many packets came from one drop to the next, at a queue of this size that the average equals.
std::vector<int> gaps_at(DataSize queued, int num_packets) {
  RedLaw law(red_of(1), RandomStream(7));
  std::vector<int> gaps;
  int since = 0;
  for (int i = 0; i < num_packets; ++i) {
    ++since;
    if (law.takes(queued, 0)) gaps.push_back(std::exchange(since, 0));
  }
  return gaps;
}

TEST(Red, DropsNothingBelowTheLowerThresholdAndAllFromTwiceTheUpper) {
  EXPECT_TRUE(gaps_at(DataSize::bytes(29'999), 10'000).empty());
  EXPECT_EQ(gaps_at(DataSize::bytes(180'000), 1000).size(), 1000u);
}

// Halfway p = 0.05. By count, gaps are uniform over 1 .. 1/p = 20 (the paper, section 7), 10.5 in
// the mean, standard deviation 5.77: of about 1900 gaps, four standard errors are 0.53.
TEST(Red, SpreadsItsDropsEvenlyBetweenTheThresholds) {
  const std::vector<int> gaps = gaps_at(DataSize::bytes(60'000), 20'000);
  double sum = 0;
  for (const int gap : gaps) {
    EXPECT_LE(gap, 20);
    sum += gap;
  }
  EXPECT_NEAR(sum / static_cast<double>(gaps.size()), 10.5,
              4 * 5.77 / std::sqrt(static_cast<double>(gaps.size())));
}

// At one and a half times the upper threshold p = 0.1 + 0.9 / 2 = 0.55: gaps are 1 with that
// probability and else 2, so 1.45 in the mean, standard deviation 0.4975.
TEST(Red, IsGentleAboveTheUpperThreshold) {
  const std::vector<int> gaps = gaps_at(DataSize::bytes(135'000), 20'000);
  double sum = 0;
  for (const int gap : gaps) {
    EXPECT_LE(gap, 2);
    sum += gap;
  }
  EXPECT_NEAR(sum / static_cast<double>(gaps.size()), 1.45,
              4 * 0.4975 / std::sqrt(static_cast<double>(gaps.size())));
}

TEST(Red, AveragesOverArrivalsAndSinksWhileTheWireIsIdle) {
  RedLaw law(red_of(0.002), RandomStream(7));
  for (int i = 0; i < 100; ++i) (void)law.takes(DataSize::bytes(100'000), 0);
  const double after = 100'000 * (1 - std::pow(0.998, 100));  // 18 143
  EXPECT_NEAR(law.average_bytes(), after, 1e-6);
  (void)law.takes(DataSize::zero(), 50);
  EXPECT_NEAR(law.average_bytes(), after * std::pow(0.998, 50), 1e-6);
}

// A step at three packets on the queue as it is (RFC 8257, section 3.1), with room for five.
QueueSpec step(bool ecn) {
  return {.limit = kPacket * 5,
          .discipline = Red{
              .low = kPacket * 3, .high = kPacket * 3, .probability = 1, .weight = 1, .ecn = ecn}};
}

TEST(Red, AStepMarksEveryPacketThatFindsTheQueueAtTheThresholdUntilItIsFull) {
  Waiting queue(step(true));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(queue.push(kRunStart, kPacket, false, true));
  EXPECT_EQ(queue.marked, (std::vector<int>{3, 4}));  // the first three found 0, 1 and 2
  EXPECT_FALSE(queue.push(kRunStart, kPacket, false, true)) << "full: dropped and not marked";
  EXPECT_EQ(queue.marked.size(), 2u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue.pop(kRunStart), i) << "marked ones keep their place";
  EXPECT_TRUE(queue.push(kRunStart, kPacket, false, true));  // finds two
  EXPECT_EQ(queue.marked.size(), 2u);
}

TEST(Red, DropsWhatCannotBeMarkedAndMarksNothingUnlessTold) {
  for (const bool ecn : {true, false}) {
    Waiting queue(step(ecn));
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(queue.push(kRunStart, kPacket, false, true));
    EXPECT_FALSE(queue.push(kRunStart, kPacket, false, !ecn));
    EXPECT_TRUE(queue.marked.empty());
    EXPECT_EQ(queue.size(), kPacket * 3);
  }
}

// The same law and the same draws: what would be dropped is marked.
TEST(Red, MarksExactlyWhatItWouldDrop) {
  Red red = red_of(1);
  RedLaw dropping(red, RandomStream(7));
  red.ecn = true;
  RedLaw marking(red, RandomStream(7));
  EXPECT_TRUE(marking.marks() && !dropping.marks());
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(dropping.takes(DataSize::bytes(60'000), 0),
              marking.takes(DataSize::bytes(60'000), 0));
}

// 200 000 packets, each lost with 2 %: four standard errors are 4 * sqrt(0.02 * 0.98 / 200 000).
TEST(Loss, ARandomOneTakesItsShare) {
  LinkSpec link;
  link.loss = RandomLoss{0.02};
  PacketLoss loss(link, LinkId{0}, 1);
  int num_lost = 0;
  for (int i = 0; i < 200'000; ++i) num_lost += loss.loses(kRunStart) ? 1 : 0;
  EXPECT_NEAR(num_lost / 200'000.0, 0.02, 0.00126);
}

LinkSpec bursty(double loss_good, double loss_bad) {
  LinkSpec link;
  link.loss = BurstLoss{90ms, 10ms, loss_good, loss_bad};
  return link;
}

// 400 s, a packet each 100 us, 10 ms bad of each 100 ms: about 4000 bursts of exponential length,
// standard error 10 ms / sqrt(4000) = 0.16 ms. The bad time of such a process has the variance
// 2 g^2 b^2 T / (g + b)^3 = 0.648 s^2, so the share has the standard error 0.8 / 400 = 0.002.
TEST(Loss, BurstsHaveTheirMeanLengthAndShare) {
  const LinkSpec link = bursty(0, 1);
  PacketLoss loss(link, LinkId{0}, 1);
  int num_lost = 0, num_bursts = 0;
  bool was_lost = false;
  for (int i = 0; i < 4'000'000; ++i) {
    const bool is_lost = loss.loses(kRunStart + 100us * i);
    num_lost += is_lost ? 1 : 0;
    num_bursts += is_lost && !was_lost ? 1 : 0;
    was_lost = is_lost;
  }
  EXPECT_NEAR(num_lost / 4e6, 0.1, 4 * 0.002);
  EXPECT_NEAR(num_lost * 0.1 / num_bursts, 10, 4 * 0.16);  // ms
}

TEST(Loss, EachStateOfBurstLossHasItsOwnShare) {
  const LinkSpec link = bursty(0.01, 0.5);
  PacketLoss loss(link, LinkId{0}, 1);
  int num_lost = 0;
  for (int i = 0; i < 4'000'000; ++i) num_lost += loss.loses(kRunStart + 100us * i) ? 1 : 0;
  EXPECT_DOUBLE_EQ(mean_loss(link.loss), 0.9 * 0.01 + 0.1 * 0.5);
  EXPECT_NEAR(num_lost / 4e6, 0.059, 4 * 0.49 * 0.002);  // the share of bad time varies most
}

TEST(Loss, TheBadTimesAreTheSameWhateverIsSent) {
  const LinkSpec link = bursty(0, 1);
  PacketLoss often(link, LinkId{3}, 5), seldom(link, LinkId{3}, 5);
  for (int ms = 0; ms < 10'000; ++ms) {
    const Instant at = kRunStart + std::chrono::milliseconds{ms};
    for (int i = 1; i < 10; ++i) (void)often.loses(at - 1ms + 100us * i + 1ms * (ms == 0));
    if (ms % 7 == 0) {
      EXPECT_EQ(often.loses(at + 1ms * (ms == 0)), seldom.loses(at + 1ms * (ms == 0))) << ms;
    }
  }
}

TEST(Loss, ASeriesLosesByTheInstantAndGoesRound) {
  LinkSpec link;
  link.loss = LossTrace{{{0s, 0}, {1s, kAllLostPpm}}, 2s};
  link.trace_offset = 500ms;
  PacketLoss loss(link, LinkId{0}, 1);
  EXPECT_FALSE(loss.loses(kRunStart + 499ms));
  EXPECT_TRUE(loss.loses(kRunStart + 500ms));
  EXPECT_TRUE(loss.loses(kRunStart + 1499ms));
  EXPECT_FALSE(loss.loses(kRunStart + 1500ms));
}

// Uniform over 0 .. 2 ms: mean 1 ms, standard error 2 ms / sqrt(12) / 100 = 5.8 us.
TEST(Delay, JitterIsUniformWithinItsBounds) {
  LinkSpec link;
  link.delay = 10ms;
  link.jitter = 2ms;
  PacketDelay delay(link, LinkId{0}, 1);
  Duration sum{};
  for (int i = 0; i < 10'000; ++i) {
    const Instant at = kRunStart + 1s * i;
    const Duration took = delay.arrival(at) - at;
    EXPECT_GE(took, 10ms);
    EXPECT_LE(took, 12ms);
    sum += took;
  }
  EXPECT_NEAR(to_ms(sum / 10'000), 11, 4 * 0.0058);
}

TEST(Delay, JitterKeepsTheOrder) {
  LinkSpec link;
  link.jitter = 2ms;
  PacketDelay delay(link, LinkId{0}, 1);
  Instant last;
  for (int i = 0; i < 1000; ++i) {
    const Instant arrives = delay.arrival(kRunStart + 10us * i);
    EXPECT_GE(arrives, last);
    last = arrives;
  }
}

TEST(Delay, OfASeriesIsThatOfTheInstantOfLeaving) {
  LinkSpec link;
  link.delay_trace = DelayTrace{{{0s, 30ms}, {1s, 10ms}}, 2s, TraceEnd::kHold};
  PacketDelay delay(link, LinkId{0}, 1);
  EXPECT_EQ(delay.arrival(kRunStart + 990ms), kRunStart + 1020ms);
  // At 1.01 s at the earliest by itself, but it may not overtake.
  EXPECT_EQ(delay.arrival(kRunStart + 1s), kRunStart + 1020ms);
  EXPECT_EQ(delay.arrival(kRunStart + 1015ms), kRunStart + 1025ms);
}

}  // namespace
}  // namespace sluice
