// The schedule of one direction of an emulated link. 12 Mbit/s carry a packet of 1500 bytes in 1
// ms.
#include "emu/link/engine/link_schedule.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/net/net_fixture.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using net_test::constant;
using net_test::mbps;
using net_test::steps;

constexpr std::uint64_t kSeed = 7;

LinkSpec link_of(LinkTrace capacity) {
  LinkSpec link;
  link.capacity = std::move(capacity);
  return link;
}

WirePacket packet(std::uint64_t frame) {
  WirePacket made;
  made.frame = frame;
  made.wire = DataSize::bytes(1500);
  return made;
}

Instant at(Duration t) {
  return kRunStart + t;
}

// Offers `count` packets of their own at once and lets all leave by `until`.
std::vector<Duration> arrivals(LinkSchedule& schedule, int count, Instant until) {
  for (int i = 0; i < count; ++i) schedule.offer(kRunStart, packet(static_cast<std::uint64_t>(i)));
  schedule.advance(until);
  std::vector<Duration> times;
  while (!schedule.on_the_way().empty())
    times.push_back(schedule.take().arrives_at.time_since_epoch());
  return times;
}

void expect_conserved(const LinkUsage& usage) {
  EXPECT_EQ(usage.wire_sent, usage.wire_delivered + usage.wire_dropped + usage.wire_in_flight);
}

TEST(LinkSchedule, PacketsFollowEachOtherAtTheRateAndTravelForTheDelay) {
  LinkSpec link = link_of(constant(mbps(12)));
  link.delay = 10ms;
  LinkSchedule schedule(link, LinkId{0}, kSeed);
  EXPECT_EQ(arrivals(schedule, 3, at(1s)), (std::vector<Duration>{11ms, 12ms, 13ms}));
}

TEST(LinkSchedule, AChangeOfTheRateRetimesTheRestOfAPacket) {
  const LinkSpec link = link_of(steps({{0ms, mbps(12)}, {500us, mbps(6)}}));
  LinkSchedule schedule(link, LinkId{0}, kSeed);
  EXPECT_EQ(arrivals(schedule, 2, at(1s)), (std::vector<Duration>{1500us, 3500us}));
}

TEST(LinkSchedule, AnOutageHoldsThePacketOnTheWire) {
  const LinkSpec link = link_of(steps({{0ms, mbps(12)}, {500us, mbps(0)}, {10500us, mbps(12)}}));
  LinkSchedule schedule(link, LinkId{0}, kSeed);
  EXPECT_EQ(arrivals(schedule, 1, at(1s)), (std::vector<Duration>{11ms}));
}

TEST(LinkSchedule, AnOutageWithoutEndKeepsAllInFlight) {
  const LinkSpec link = link_of(steps({{0ms, mbps(12)}, {500us, mbps(0)}}));
  LinkSchedule schedule(link, LinkId{0}, kSeed);
  for (std::uint64_t i = 0; i < 3; ++i) schedule.offer(kRunStart, packet(i));
  schedule.advance(at(1h));
  EXPECT_EQ(schedule.next_run(1ms).at, Instant::max());
  EXPECT_EQ(schedule.usage(at(1h)).wire_in_flight, DataSize::bytes(4500));
}

TEST(LinkSchedule, AnIdleWireBeginsWithTheNextPacket) {
  const LinkSpec link = link_of(constant(mbps(12)));
  LinkSchedule schedule(link, LinkId{0}, kSeed);
  schedule.offer(at(0ms), packet(0));
  schedule.offer(at(5ms), packet(1));
  EXPECT_EQ(schedule.take().arrives_at, at(1ms));
  EXPECT_EQ(schedule.take().arrives_at, at(6ms));
}

TEST(LinkSchedule, ALateCallerFindsTheSameInstantsAsAPunctualOne) {
  LinkSpec link = link_of(steps({{0ms, mbps(12)}, {7ms, mbps(100)}, {9ms, mbps(3)}}));
  link.jitter = 2ms;
  link.queue.discipline = CoDel{1ms, 5ms};
  LinkSchedule late(link, LinkId{0}, kSeed), punctual(link, LinkId{0}, kSeed);
  for (std::uint64_t i = 0; i < 100; ++i) punctual.offer(kRunStart, packet(i));
  for (auto t = 0us; t < 500ms; t += 100us) punctual.advance(at(t));
  const std::vector<Duration> expected = arrivals(late, 100, at(500ms));
  std::vector<Duration> found;
  while (!punctual.on_the_way().empty())
    found.push_back(punctual.take().arrives_at.time_since_epoch());
  EXPECT_EQ(found, expected);
  EXPECT_LT(found.size(), 100U) << "CoDel has dropped some of a queue of 0.1 s";
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end())) << "jitter keeps the order";
}

TEST(LinkSchedule, AFullQueueDropsWhatComes) {
  LinkSpec link = link_of(constant(mbps(12)));
  link.queue.limit = DataSize::bytes(3000);
  LinkSchedule schedule(link, LinkId{0}, kSeed);
  for (std::uint64_t i = 0; i < 3; ++i) EXPECT_TRUE(schedule.offer(kRunStart, packet(i)));
  EXPECT_FALSE(schedule.offer(kRunStart, packet(3))) << "one on the wire, two wait, no more";
  EXPECT_TRUE(schedule.offer(at(1ms), packet(4))) << "the first has left";
  schedule.take();
  const LinkUsage usage = schedule.usage(at(2ms));
  EXPECT_EQ(usage.wire_sent, DataSize::bytes(7500));
  EXPECT_EQ(usage.wire_delivered, DataSize::bytes(1500));
  EXPECT_EQ(usage.wire_dropped, DataSize::bytes(1500));
  EXPECT_EQ(usage.wire_in_flight, DataSize::bytes(4500));
  EXPECT_EQ(usage.capacity, DataSize::bytes(3000));
}

TEST(LinkSchedule, TheShareOfLossFallsOnSinglePackets) {
  LinkSpec link = link_of(constant(mbps(12000)));
  link.loss = RandomLoss{0.25};
  LinkSchedule schedule(link, LinkId{0}, kSeed);
  for (std::uint64_t i = 0; i < 10'000; ++i) schedule.offer(kRunStart, packet(i));
  schedule.advance(at(1s));
  int lost = 0;
  while (!schedule.on_the_way().empty()) lost += schedule.take().is_lost;
  EXPECT_NEAR(lost, 2500, 6 * 44) << "six standard deviations of a binomial";
  const LinkUsage usage = schedule.usage(at(1s));
  EXPECT_EQ(usage.wire_dropped, DataSize::bytes(1500 * lost));
  expect_conserved(usage);
}

TEST(LinkSchedule, RedMarksWhatCanBeMarked) {
  LinkSpec link = link_of(constant(mbps(12)));
  link.queue.discipline = Red{DataSize::bytes(3000), DataSize::bytes(3000), 1, 1, true};
  LinkSchedule schedule(link, LinkId{0}, kSeed);
  for (std::uint64_t i = 0; i < 5; ++i) {
    WirePacket capable = packet(i);
    capable.can_be_marked = true;
    EXPECT_TRUE(schedule.offer(kRunStart, capable));
  }
  EXPECT_FALSE(schedule.offer(kRunStart, packet(5))) << "cannot be marked, so it is dropped";
  schedule.advance(at(1s));
  std::vector<bool> marked;
  while (!schedule.on_the_way().empty()) marked.push_back(schedule.take().packet.is_marked);
  EXPECT_EQ(marked, (std::vector<bool>{false, false, false, true, true}))
      << "one on the wire, then two of 1500 bytes fill the queue to its threshold";
}

WirePacket part(std::int32_t index) {
  WirePacket made = packet(0);
  made.index = index;
  made.num_packets = 4;
  return made;
}

TEST(LinkSchedule, PacketsOfAFrameThatAreDueTogetherMakeOneRun) {
  LinkSpec link = link_of(constant(mbps(120)));  // 0.1 ms for each
  link.delay = 10ms;
  LinkSchedule schedule(link, LinkId{0}, kSeed);
  for (std::int32_t i = 0; i < 4; ++i) schedule.offer(kRunStart, part(i));
  EXPECT_EQ(schedule.next_run(1ms).at, at(10400us)) << "three wait still, and will follow";
  EXPECT_EQ(schedule.next_run(250us).at, at(10350us)) << "a guess goes no further than the span";
  schedule.advance(at(1ms));
  EXPECT_EQ(schedule.next_run(1ms).num_packets, 4U);
  EXPECT_EQ(schedule.next_run(250us).num_packets, 3U);
  EXPECT_EQ(schedule.next_run(250us).at, at(10300us));
}

TEST(LinkSchedule, ARunEndsAtALostPacketAndAtTheNextFrame) {
  LinkSpec link = link_of(constant(mbps(120)));
  LossTrace loss;  // the second packet leaves at 0.2 ms
  loss.steps = {{0us, 0}, {150us, kAllLostPpm}, {250us, 0}};
  loss.length = 1s;
  link.loss = loss;
  LinkSchedule schedule(link, LinkId{0}, kSeed);
  for (std::int32_t i = 0; i < 4; ++i) schedule.offer(kRunStart, part(i));
  schedule.offer(kRunStart, packet(1));
  schedule.advance(at(1ms));
  std::vector<std::size_t> runs;
  while (!schedule.on_the_way().empty()) {
    runs.push_back(schedule.next_run(1ms).num_packets);
    for (std::size_t i = 0; i < runs.back(); ++i) schedule.take();
  }
  EXPECT_EQ(runs, (std::vector<std::size_t>{1, 1, 2, 1}));
}

}  // namespace
}  // namespace sluice
