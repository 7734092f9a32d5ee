#include "base/sim_clock.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sluice {
namespace {

using namespace std::chrono_literals;

TEST(SimClock, CallbacksRunInOrderOfTimeAndThenOfScheduling) {
  SimClock clock;
  std::string story;
  clock.schedule_in(2ms, [&] { story += 'c'; });
  clock.schedule_in(1ms, [&] { story += 'a'; });
  clock.schedule_in(1ms, [&] { story += 'b'; });
  EXPECT_EQ(clock.run(), 3u);
  EXPECT_EQ(story, "abc");
  EXPECT_EQ(clock.now(), kRunStart + 2ms);
}

TEST(SimClock, ACancelledCallbackDoesNotRun) {
  SimClock clock;
  bool ran = false;
  const TimerId id = clock.schedule_in(1ms, [&] { ran = true; });
  clock.cancel(id);
  clock.cancel(id);  // twice does nothing
  EXPECT_EQ(clock.run(), 0u);
  EXPECT_FALSE(ran);
}

TEST(SimClock, AnInstantThatHasPassedMeansNow) {
  SimClock clock;
  Instant seen{};
  clock.schedule_in(5ms, [&] { clock.schedule(kRunStart, [&] { seen = clock.now(); }); });
  clock.run();
  EXPECT_EQ(seen, kRunStart + 5ms);
}

TEST(SimClock, RunStopsAtTheGivenInstantAndGoesOnLater) {
  SimClock clock;
  int count = 0;
  clock.schedule_in(1ms, [&] { ++count; });
  clock.schedule_in(3ms, [&] { ++count; });
  clock.run(kRunStart + 2ms);
  EXPECT_EQ(count, 1);
  clock.run();
  EXPECT_EQ(count, 2);
}

TEST(SimClock, ATimerIdNamesItsTimerOnlyThoughItsPlaceIsUsedAgain) {
  SimClock clock;
  std::string story;
  const TimerId first = clock.schedule_in(1ms, [&] { story += 'a'; });
  clock.cancel(first);
  const TimerId second = clock.schedule_in(2ms, [&] { story += 'b'; });
  EXPECT_NE(first, second);
  clock.cancel(first);  // does not reach the second
  clock.run();
  clock.cancel(second);  // ran
  clock.schedule_in(1ms, [&] { story += 'c'; });
  clock.cancel(second);
  clock.cancel(TimerId{});  // names no timer
  clock.run();
  EXPECT_EQ(story, "bc");
}

TEST(SimClock, ACallbackMayCancelAndScheduleAtItsOwnInstant) {
  SimClock clock;
  std::string story;
  TimerId victim;
  clock.schedule_in(1ms, [&] {
    clock.cancel(victim);
    clock.schedule_in(0ms, [&] { story += 'd'; });
    story += 'a';
  });
  victim = clock.schedule_in(1ms, [&] { story += 'b'; });
  clock.schedule_in(1ms, [&] { story += 'c'; });
  EXPECT_EQ(clock.run(), 3u);
  EXPECT_EQ(story, "acd");
}

// A timer that is set anew all the time, as a network's next event is: the order of the others
// stays, and only they run.
TEST(SimClock, ThousandsOfCancelledTimersChangeNothingForTheOthers) {
  SimClock clock;
  std::vector<int> order;
  TimerId moving;
  for (int i = 0; i < 5000; ++i) {
    clock.cancel(moving);
    moving = clock.schedule_in(std::chrono::milliseconds{1 + (i * 7919) % 5000}, [] { FAIL(); });
    if (i % 50 == 0) {
      clock.schedule_in(std::chrono::milliseconds{5000 - i}, [&order, i] { order.push_back(i); });
    }
  }
  clock.cancel(moving);
  EXPECT_EQ(clock.run(), 100u);
  ASSERT_EQ(order.size(), 100u);
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(order[i], 4950 - 50 * static_cast<int>(i));  // the one scheduled last is due first
  }
}

}  // namespace
}  // namespace sluice
