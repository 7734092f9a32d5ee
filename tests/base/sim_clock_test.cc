#include "base/sim_clock.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace sluice
