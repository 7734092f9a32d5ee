#include "traces/link_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/traces/trace_helpers.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::mbit;

LinkTrace sound() {
  LinkTrace trace;
  trace.name = "example";
  trace.unit = "Mbit/s";
  trace.length = 20s;
  trace.steps = {{0s, mbit(8)}, {10s, DataRate::zero()}, {12s, DataRate::zero()}, {15s, mbit(16)}};
  return trace;
}

std::string refusal(const LinkTrace& trace) {
  const Status status = check_trace(trace);
  return status.ok() ? "sound" : status.error().to_line();
}

TEST(CheckTrace, ASoundTracePasses) {
  EXPECT_EQ(refusal(sound()), "sound");
}

TEST(CheckTrace, WhatIsWrongIsNamed) {
  LinkTrace t = sound();
  t.steps.clear();
  EXPECT_THAT(refusal(t), HasSubstr("example: the trace has no steps"));
  t = sound();
  t.steps[1].rate = DataRate::bits_per_sec(-1);
  EXPECT_THAT(refusal(t), HasSubstr("step 2: the rate is negative"));
  t = sound();
  t.steps[1].rate = kMaxLinkRate + DataRate::bits_per_sec(1);
  EXPECT_THAT(refusal(t), HasSubstr("step 2: the rate 4e+05 Gbit/s is above"));
  t = sound();
  t.steps[0].start = 1ns;
  EXPECT_THAT(refusal(t), HasSubstr("does not start at zero"));
  t = sound();
  t.steps[2].start = 10s;
  EXPECT_THAT(refusal(t), HasSubstr("step 3: time does not go forward"));
  t = sound();
  t.length = 15s;
  EXPECT_THAT(refusal(t), HasSubstr("ends before its last step"));
  t = sound();
  t.length = kMaxTraceLength + 1ns;
  EXPECT_THAT(refusal(t), HasSubstr("longer than ten years"));
}

TEST(CheckTrace, AChunkClockedTraceHasRatesOnly) {
  LinkTrace t = sound();
  t.clock = TraceClock::kChunk;
  EXPECT_THAT(refusal(t), HasSubstr("a chunk-clocked trace has times"));
  for (RateStep& step : t.steps) step.start = 0s;
  t.length = 0s;
  EXPECT_EQ(refusal(t), "sound");
}

TEST(CheckTrace, DelayAndLossAreAsLongAsTheTrace) {
  LinkTrace t = sound();
  t.delay = DelayTrace{{{0s, 5ms}}, 20s};
  t.loss = LossTrace{{{0s, 0}, {3s, 1'000'000}}, 20s};
  EXPECT_EQ(refusal(t), "sound");
  t.delay->length = 19s;
  EXPECT_THAT(refusal(t), HasSubstr("the delay is not clocked as the rates are"));
  t = sound();
  t.loss = LossTrace{{{0s, 0}}, 20s, TraceEnd::kHold};
  EXPECT_THAT(refusal(t), HasSubstr("the loss is not clocked as the rates are"));
  t.loss = LossTrace{{{0s, 1'000'001}}, 20s};
  EXPECT_THAT(refusal(t), HasSubstr("step 1: the loss 1000001 ppm is outside 0 .. 1000000"));
  t.loss = LossTrace{{}, 20s};
  EXPECT_THAT(refusal(t), HasSubstr("the loss trace has no steps"));
}

TEST(SkippedRows, AreCountedByReason) {
  LinkTrace t = sound();
  t.skip(2, "too early");
  t.skip(0, "never seen");
  t.skip(1, "too late");
  t.skip(3, "too early");
  EXPECT_EQ(t.num_skipped, 6);
  EXPECT_THAT(t.skipped, ElementsAre(SkippedRows{5, "too early"}, SkippedRows{1, "too late"}));
  EXPECT_EQ(refusal(t), "sound");
  t.num_skipped = 7;
  EXPECT_THAT(refusal(t), HasSubstr("7 rows are skipped, and reasons given for 6"));
}

TEST(LossCursor, ALossHoldsFromItsStepOn) {
  const LossTrace trace{{{0s, 0}, {2s, 250'000}}, 4s};
  const LossCursor cursor(trace, 1s);
  EXPECT_EQ(cursor.loss_ppm_at(kRunStart), 0);
  EXPECT_EQ(cursor.loss_ppm_at(kRunStart + 1s), 250'000);
  EXPECT_EQ(cursor.next_change(kRunStart), kRunStart + 1s);
  EXPECT_EQ(summarise(trace).mean_ppm, 125'000);
  EXPECT_EQ(summarise(trace).max_ppm, 250'000);
}

TEST(Summary, MeansAreWeightedByTime) {
  const TraceSummary s = summarise(sound());
  EXPECT_EQ(s.length, 20s);
  EXPECT_EQ(s.mean, mbit(8));  // (8 * 10 + 0 * 5 + 16 * 5) / 20
  EXPECT_EQ(s.min, DataRate::zero());
  EXPECT_EQ(s.max, mbit(16));
}

TEST(Summary, AnOutageOfTwoStepsIsOneStretch) {
  const TraceSummary s = summarise(sound());
  EXPECT_EQ(s.num_zero_steps, 2);
  EXPECT_EQ(s.outage, 5s);
  EXPECT_EQ(s.longest_outage, 5s);
}

TEST(Summary, ChunksWeighTheSame) {
  LinkTrace t = sound();
  t.clock = TraceClock::kChunk;
  t.length = 0s;
  t.steps = {{0s, mbit(1)}, {0s, mbit(2)}, {0s, mbit(6)}};
  const TraceSummary s = summarise(t);
  EXPECT_EQ(s.mean, mbit(3));
  EXPECT_EQ(s.length, 0s);
  EXPECT_EQ(s.outage, 0s);
}

TEST(DoubtAboutUnit, SpeaksOutsideTenKilobitsTo400Gigabits) {
  LinkTrace t = sound();
  const auto doubt_at = [&](std::int64_t bits_per_sec) {
    t.steps = {{0s, DataRate::bits_per_sec(bits_per_sec)}};
    return doubt_about_unit(t);
  };
  EXPECT_EQ(doubt_at(10'000), std::nullopt);
  EXPECT_EQ(doubt_at(400'000'000'000), std::nullopt);
  EXPECT_THAT(doubt_at(9'999).value_or(""), HasSubstr("is `Mbit/s` the right unit?"));
  EXPECT_THAT(doubt_at(400'000'000'001).value_or(""), HasSubstr("the mean rate is 400 Gbit/s"));
  EXPECT_THAT(doubt_at(0).value_or(""), HasSubstr("0 bit/s"));
}

}  // namespace
}  // namespace sluice
