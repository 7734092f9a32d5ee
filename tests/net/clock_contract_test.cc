// Every simulated clock keeps time in the same way, so that a session cannot tell them apart.
#include <gtest/gtest.h>

#include <string>

#include "tests/net/tiers_fixture.h"

namespace sluice {
namespace {

using namespace net_test;

class SimulatedClock : public testing::TestWithParam<TierUnderTest> {
 protected:
  void SetUp() override {
    if (!GetParam().is_there)
      GTEST_SKIP() << "this build has no ns-3: clock of tier " << GetParam().name;
    clock_ = GetParam().make_clock();
  }
  std::unique_ptr<RunnableClock> clock_;
  std::string story_;
};

TEST_P(SimulatedClock, CallbacksRunInOrderOfTimeAndThenOfScheduling) {
  clock_->schedule_in(2ms, [&] { story_ += 'c'; });
  clock_->schedule_in(1ms, [&] { story_ += 'a'; });
  clock_->schedule_in(1ms, [&] { story_ += 'b'; });
  EXPECT_EQ(clock_->run(), 3u);
  EXPECT_EQ(story_, "abc");
  EXPECT_EQ(clock_->now(), kRunStart + 2ms);
}

TEST_P(SimulatedClock, ACancelledCallbackDoesNotRunNorDoesTimeGoOnToIt) {
  clock_->schedule_in(1ms, [&] { story_ += 'a'; });
  const TimerId id = clock_->schedule_in(5ms, [&] { story_ += 'b'; });
  clock_->cancel(id);
  clock_->cancel(id);  // twice does nothing
  EXPECT_EQ(clock_->run(), 1u);
  EXPECT_EQ(story_, "a");
  EXPECT_EQ(clock_->now(), kRunStart + 1ms);
}

TEST_P(SimulatedClock, AnInstantThatHasPassedMeansNowAfterWhatIsDue) {
  clock_->schedule_in(5ms, [&] {
    clock_->schedule(kRunStart, [&] { story_ += clock_->now() == kRunStart + 5ms ? 'c' : 'x'; });
    story_ += 'a';
  });
  clock_->schedule_in(5ms, [&] { story_ += 'b'; });
  clock_->run();
  EXPECT_EQ(story_, "abc");
}

TEST_P(SimulatedClock, RunUntilAnInstantRunsAllOfThatInstantAndGoesOnLater) {
  clock_->schedule_in(2ms, [&] {
    story_ += 'a';
    clock_->schedule_in(0ms, [&] {
      story_ += 'b';
      clock_->schedule_in(0ms, [&] { story_ += 'c'; });
    });
  });
  clock_->schedule_in(3ms, [&] { story_ += 'd'; });
  clock_->run(kRunStart + 2ms);
  EXPECT_EQ(story_, "abc");
  EXPECT_EQ(clock_->now(), kRunStart + 2ms);
  clock_->run();
  EXPECT_EQ(story_, "abcd");
}

TEST_P(SimulatedClock, StopEndsTheRunAfterTheCurrentCallback) {
  clock_->schedule_in(1ms, [&] {
    clock_->stop();
    story_ += 'a';
  });
  clock_->schedule_in(2ms, [&] { story_ += 'b'; });
  EXPECT_EQ(clock_->run(kRunStart + 10ms), 1u);
  EXPECT_EQ(clock_->now(), kRunStart + 1ms);
  EXPECT_EQ(clock_->run(kRunStart + 20ms), 1u);
  EXPECT_EQ(story_, "ab");
}

INSTANTIATE_TEST_SUITE_P(All, SimulatedClock, testing::ValuesIn(all_tiers()),
                         [](const auto& suite_info) { return std::string(suite_info.param.name); });

}  // namespace
}  // namespace sluice
