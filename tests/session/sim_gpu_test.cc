#include "sim/session/sim_gpu.h"

#include <gtest/gtest.h>

#include <string>

#include "base/sim_clock.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

TEST(SimGpu, RunsJobsOneAfterTheOtherFirstComeFirstServed) {
  SimClock clock;
  SimGpu gpu(clock);
  std::string story;
  gpu.submit({.time = 10ms, .on_begin = {}, .on_done = [&] {
                story += 'a';
                EXPECT_EQ(clock.now(), kRunStart + 10ms);
              }});
  gpu.submit({.time = 5ms,
              .on_begin = [&] { EXPECT_EQ(clock.now(), kRunStart + 10ms); },
              .on_done =
                  [&] {
                    story += 'b';
                    EXPECT_EQ(clock.now(), kRunStart + 15ms);
                  }});
  EXPECT_EQ(gpu.wait(), 15ms);
  clock.run();
  EXPECT_EQ(story, "ab");
  EXPECT_EQ(gpu.busy_time(), 15ms);
  EXPECT_EQ(gpu.wait(), 0ms);
}

TEST(SimGpu, ACancelledQueuedJobFreesItsTimeARunningOneOnlyFallsSilent) {
  SimClock clock;
  SimGpu gpu(clock);
  bool first = false, second = false;
  const GpuJobId running =
      gpu.submit({.time = 10ms, .on_begin = {}, .on_done = [&] { first = true; }});
  const GpuJobId queued =
      gpu.submit({.time = 5ms, .on_begin = {}, .on_done = [&] { second = true; }});
  gpu.cancel(running);
  gpu.cancel(queued);
  clock.run();
  EXPECT_FALSE(first);
  EXPECT_FALSE(second);
  EXPECT_EQ(gpu.busy_time(), 10ms);
}

}  // namespace
}  // namespace sluice
