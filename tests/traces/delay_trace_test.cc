// Delay traces: what is refused, and what a cursor says of them.
#include "traces/delay_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

// 10 ms for 2 s, 40 ms for 1 s, over and over.
DelayTrace ten_then_forty(TraceEnd end = TraceEnd::kLoop) {
  return {{{0s, 10ms}, {2s, 40ms}}, 3s, end};
}

Instant at(Duration time) {
  return kRunStart + time;
}

TEST(DelayCursor, ADelayHoldsFromItsStepOnAndTheTraceRepeats) {
  const DelayTrace trace = ten_then_forty();
  const DelayCursor cursor(trace, 0s);
  EXPECT_EQ(cursor.delay_at(at(0s)), 10ms);
  EXPECT_EQ(cursor.delay_at(at(2s - 1ns)), 10ms);
  EXPECT_EQ(cursor.delay_at(at(2s)), 40ms);
  EXPECT_EQ(cursor.delay_at(at(3s)), 10ms);
  EXPECT_EQ(cursor.next_change(at(0s)), at(2s));
  EXPECT_EQ(cursor.next_change(at(2500ms)), at(3s));
}

TEST(DelayCursor, AnOffsetShiftsTheRunIntoTheTrace) {
  const DelayTrace trace = ten_then_forty();
  const DelayCursor cursor(trace, 8s);  // two laps and two seconds
  EXPECT_EQ(cursor.delay_at(at(0s)), 40ms);
  EXPECT_EQ(cursor.next_change(at(0s)), at(1s));
}

TEST(DelayCursor, AHoldingTraceKeepsItsLastDelay) {
  const DelayTrace trace = ten_then_forty(TraceEnd::kHold);
  const DelayCursor cursor(trace, 0s);
  EXPECT_EQ(cursor.delay_at(at(1000h)), 40ms);
  EXPECT_EQ(cursor.next_change(at(2s)), std::nullopt);
}

TEST(DelayTrace, TheMeanIsWeightedByTime) {
  const DelaySummary s = summarise(ten_then_forty());
  EXPECT_EQ(s.mean, 20ms);  // (2 * 10 + 1 * 40) / 3
  EXPECT_EQ(s.min, 10ms);
  EXPECT_EQ(s.max, 40ms);
}

std::string refusal(const DelayTrace& trace) {
  const Status sound = check_delay_trace(trace, "link");
  return sound ? "" : sound.error().to_line();
}

TEST(CheckDelayTrace, RefusesWhatNoLinkHas) {
  EXPECT_EQ(refusal(ten_then_forty()), "");
  EXPECT_EQ(refusal({{{0s, 0s}}, 1s}), "");  // no delay at all is one
  EXPECT_EQ(refusal({}), "error: link: the delay trace has no steps; give at least one delay");
  EXPECT_THAT(refusal({{{0s, -1ns}}, 1s}),
              HasSubstr("step 1: the delay -1e-09 s is outside 0 .. "));
  EXPECT_THAT(refusal({{{0s, 1h}}, 1s}), HasSubstr("the delay 3600 s is outside"));
  EXPECT_THAT(refusal({{{1s, 1ms}}, 2s}), HasSubstr("does not start at zero"));
  EXPECT_THAT(refusal({{{0s, 1ms}, {0s, 2ms}}, 2s}), HasSubstr("step 2: time does not go forward"));
  EXPECT_THAT(refusal({{{0s, 1ms}, {2s, 2ms}}, 2s}), HasSubstr("ends before its last step"));
  EXPECT_THAT(refusal({{{0s, 1ms}}, kMaxTraceLength + 1ns}), HasSubstr("longer than ten years"));
}

}  // namespace
}  // namespace sluice
