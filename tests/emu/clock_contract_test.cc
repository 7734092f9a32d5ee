// What every clock does, in simulated and in real time; where they differ, the real one is held to
// "not before".
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "base/sim_clock.h"
#include "emu/clock/real_clock.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

template <typename T>
class ClockContract : public ::testing::Test {};
using Clocks = ::testing::Types<SimClock, RealClock>;
TYPED_TEST_SUITE(ClockContract, Clocks);

TYPED_TEST(ClockContract, CallbacksRunInOrderOfTimeAndThenOfScheduling) {
  TypeParam clock;
  std::string story;
  clock.schedule(kRunStart + 2ms, [&] { story += 'c'; });
  clock.schedule(kRunStart + 1ms, [&] { story += 'a'; });
  clock.schedule(kRunStart + 1ms, [&] { story += 'b'; });
  EXPECT_EQ(clock.run(), 3u);
  EXPECT_EQ(story, "abc");
  EXPECT_GE(clock.now(), kRunStart + 2ms);
}

TYPED_TEST(ClockContract, TimeBeginsWithTheRun) {
  TypeParam clock;
  std::this_thread::sleep_for(2ms);
  EXPECT_EQ(clock.now(), kRunStart);
}

TYPED_TEST(ClockContract, ACallbackNeverRunsBeforeItsInstant) {
  TypeParam clock;
  for (int i = 0; i < 50; ++i) {
    const Instant at = kRunStart + i * 300us;
    clock.schedule(at, [&clock, at] { EXPECT_GE(clock.now(), at); });
  }
  EXPECT_EQ(clock.run(), 50u);
}

TYPED_TEST(ClockContract, ACancelledCallbackDoesNotRun) {
  TypeParam clock;
  bool ran = false;
  const TimerId id = clock.schedule_in(1ms, [&] { ran = true; });
  clock.cancel(id);
  clock.cancel(id);         // twice does nothing
  clock.cancel(TimerId{});  // names no timer
  EXPECT_EQ(clock.run(), 0u);
  EXPECT_FALSE(ran);
}

TYPED_TEST(ClockContract, AnInstantThatHasPassedMeansNow) {
  TypeParam clock;
  Instant seen{};
  clock.schedule_in(5ms, [&] { clock.schedule(kRunStart, [&] { seen = clock.now(); }); });
  clock.run();
  EXPECT_GE(seen, kRunStart + 5ms);
}

TYPED_TEST(ClockContract, RunEndsAtTheGivenInstantAndGoesOnLater) {
  TypeParam clock;
  int count = 0;
  clock.schedule(kRunStart + 1ms, [&] { ++count; });
  clock.schedule(kRunStart + 300ms, [&] { ++count; });
  clock.run(kRunStart + 20ms);
  EXPECT_EQ(count, 1);
  clock.run();
  EXPECT_EQ(count, 2);
}

TYPED_TEST(ClockContract, StopEndsTheRunAfterTheCallback) {
  TypeParam clock;
  int count = 0;
  for (int i = 0; i < 3; ++i) {
    clock.schedule(kRunStart + 1ms, [&] {
      ++count;
      clock.stop();
    });
  }
  EXPECT_EQ(clock.run(), 1u);
  EXPECT_EQ(clock.run(), 1u);
  EXPECT_EQ(count, 2);
}

TYPED_TEST(ClockContract, ACallbackMayCancelAndScheduleAtItsOwnInstant) {
  TypeParam clock;
  std::string story;
  TimerId victim;
  const Instant at = kRunStart + 1ms;
  clock.schedule(at, [&] {
    clock.cancel(victim);
    clock.schedule(at, [&] { story += 'd'; });
    story += 'a';
  });
  victim = clock.schedule(at, [&] { story += 'b'; });
  clock.schedule(at, [&] { story += 'c'; });
  EXPECT_EQ(clock.run(), 3u);
  EXPECT_EQ(story, "acd");
}

TYPED_TEST(ClockContract, ThousandsOfCancelledTimersChangeNothingForTheOthers) {
  TypeParam clock;
  std::vector<int> order;
  TimerId moving;
  for (int i = 0; i < 5000; ++i) {
    clock.cancel(moving);
    moving = clock.schedule(kRunStart + std::chrono::microseconds{1 + (i * 7919) % 5000},
                            [] { FAIL(); });
    if (i % 50 == 0) {
      clock.schedule(kRunStart + std::chrono::microseconds{5000 - i},
                     [&order, i] { order.push_back(i); });
    }
  }
  clock.cancel(moving);
  EXPECT_EQ(clock.run(), 100u);
  ASSERT_EQ(order.size(), 100u);
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i], 4950 - 50 * static_cast<int>(i));  // the one scheduled last is due first
  }
}

TEST(RealClock, WhatOtherThreadsPostRunsOnItsThreadInTheirOrder) {
  RealClock clock;
  std::vector<int> order;
  const auto home = std::this_thread::get_id();
  auto hold = std::make_unique<RealClock::Hold>(clock.hold());
  std::thread other([&] {
    for (int i = 0; i < 100; ++i) {
      clock.post([&, i] {
        EXPECT_EQ(std::this_thread::get_id(), home);
        order.push_back(i);
        if (i == 99) hold.reset();  // nothing is left to wait for
      });
    }
  });
  EXPECT_EQ(clock.run(), 100u);
  other.join();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(order.at(static_cast<std::size_t>(i)), i);
}

TEST(RealClock, AHoldKeepsARunGoingUntilItsEnd) {
  RealClock clock;
  const RealClock::Hold hold = clock.hold();
  EXPECT_EQ(clock.run(kRunStart + 10ms), 0u);
  EXPECT_GE(clock.now(), kRunStart + 10ms);
}

TEST(RealClock, KeepsHowLateItsTimersWere) {
  RealClock clock;
  for (int i = 1; i <= 20; ++i) clock.schedule(kRunStart + i * 500us, [] {});
  clock.schedule(kRunStart, [] {});  // due at once: cannot be late
  clock.run();
  EXPECT_EQ(clock.lateness().count(), 20);
  EXPECT_LE(clock.lateness().quantile(0.5), clock.lateness().max());
}

}  // namespace
}  // namespace sluice
