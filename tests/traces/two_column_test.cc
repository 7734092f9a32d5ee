// Two columns: the rate of a row belongs to the interval that ends at its time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/traces/trace_helpers.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::mbit;
using testing::read_one;

TEST(TwoColumn, ARateHoldsUntilItsTime) {
  const LinkTrace trace = read_one("0.0\t9\n2.0\t4\n5.0\t7\n");
  EXPECT_EQ(trace.reader, "two-column");
  EXPECT_EQ(trace.unit, "Mbit/s");
  EXPECT_EQ(trace.kind, TraceKind::kAchievedThroughput);
  EXPECT_EQ(trace.length, 5s);
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(4)}, RateStep{2s, mbit(7)}));
}

TEST(TwoColumn, ARowStampedZeroEndsNoIntervalAndIsSkipped) {
  const LinkTrace trace = read_one("0.0\t9\n2.0\t4\n5.0\t7\n");
  EXPECT_EQ(trace.num_rows, 2);
  EXPECT_EQ(trace.num_skipped, 1);
}

TEST(TwoColumn, A1HertzTraceStampedFromOneLastsAsLongAsItsLastStamp) {
  const LinkTrace trace = read_one("1.0 10.0\n2.0 20.0\n3.0 30.0\n");
  EXPECT_EQ(trace.length, 3s);
  EXPECT_EQ(trace.num_skipped, 0);
  EXPECT_THAT(trace.steps,
              ElementsAre(RateStep{0s, mbit(10)}, RateStep{1s, mbit(20)}, RateStep{2s, mbit(30)}));
}

TEST(TwoColumn, ASliceThatKeptItsClockBeginsAtItsFirstStamp) {
  // Nobody knows how long the 5 Mbit/s of the first row held, surely not 119 s.
  const LinkTrace trace = read_one("119.0 5.0\n120.0 6.0\n122.0 7.0\n");
  EXPECT_EQ(trace.length, 3s);
  EXPECT_EQ(trace.num_rows, 2);
  EXPECT_EQ(trace.num_skipped, 1);
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(6)}, RateStep{1s, mbit(7)}));
}

TEST(TwoColumn, AFirstStampUpToTheLongestStepBeginsAtZero) {
  EXPECT_EQ(read_one("2 5\n3 6\n5 7\n").length, 5s);  // longest step 2 s
  EXPECT_EQ(read_one("2.001 5\n3 6\n5 7\n").length, 2999ms);
}

TEST(TwoColumn, AFirstRowEqualToTheSecondMerges) {
  EXPECT_THAT(read_one("1 5\n2 5\n3 6\n").steps,
              ElementsAre(RateStep{0s, mbit(5)}, RateStep{2s, mbit(6)}));
}

TEST(TwoColumn, OneRowIsAConstant) {
  const LinkTrace trace = read_one("4.0 5.0\n");
  EXPECT_EQ(trace.length, 4s);
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(5)}));
}

TEST(TwoColumn, StampsCanBeDeclaredToBeginIntervals) {
  ReadOptions options;
  options.stamps = StampRule::kStart;
  const LinkTrace trace = read_one("0 9\n2 4\n5 7\n", options);
  EXPECT_EQ(trace.length, 8s);  // the last row lasts as long as the one before it
  EXPECT_THAT(trace.steps,
              ElementsAre(RateStep{0s, mbit(9)}, RateStep{2s, mbit(4)}, RateStep{5s, mbit(7)}));
}

TEST(TwoColumn, TabsBlanksAndCrlfAreTheSame) {
  const auto steps = read_one("1\t10\n2\t20\n").steps;
  EXPECT_EQ(read_one("1 10\r\n2 20\r\n").steps, steps);
  EXPECT_EQ(read_one(" 1 \t 10 \n2   20").steps, steps);
}

TEST(TwoColumn, DecimalsAreExactAndRoundToTheNearestBit) {
  EXPECT_EQ(read_one("1 0.1\n").steps.front().rate.bits_per_sec(), 100'000);
  EXPECT_EQ(read_one("1 4.03768755221\n").steps.front().rate.bits_per_sec(), 4'037'688);
  EXPECT_EQ(read_one("1 1e-3\n").steps.front().rate.bits_per_sec(), 1'000);
}

TEST(TwoColumn, AnotherUnitCanBeDeclared) {
  ReadOptions options;
  options.unit = "kB/s";
  options.time_unit = "ms";
  const LinkTrace trace = read_one("500 1000\n", options);
  EXPECT_EQ(trace.length, 500ms);
  EXPECT_EQ(trace.steps.front().rate, mbit(8));
  EXPECT_EQ(trace.unit, "kB/s");
}

TEST(TwoColumn, TheKindCanBeDeclared) {
  ReadOptions options;
  options.kind = TraceKind::kCapacity;
  EXPECT_EQ(read_one("1 10\n", options).kind, TraceKind::kCapacity);
}

TEST(TwoColumn, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_EQ(error_of("", testing::with_reader("two-column")),
            "error: trace: the file is empty; give a trace with at least one row");
  EXPECT_EQ(error_of("1 5\n2 -5\n"),
            "error: trace:2: the rate `-5` is negative; a rate is zero or more");
  EXPECT_THAT(error_of("-1 5\n2 5\n"), HasSubstr("trace:1: the time `-1` is negative"));
  EXPECT_THAT(error_of("3 5\n2 5\n"),
              HasSubstr("trace:2: the time 2 s goes back behind the row before; sort"));
  EXPECT_THAT(error_of("3 5\n3 5\n"),
              HasSubstr("trace:2: the time 3 s is equal to that of the row before"));
  EXPECT_THAT(error_of("1 5\n2 nan\n"),
              HasSubstr("trace:2: the rate `nan` is not a finite number"));
  EXPECT_THAT(error_of("1 5\n2 inf\n"),
              HasSubstr("trace:2: the rate `inf` is not a finite number"));
  EXPECT_THAT(error_of("1 5\ninf 5\n"),
              HasSubstr("trace:2: the time `inf` is not a finite number"));
  EXPECT_THAT(error_of("1 5\n2 5 9\n"), HasSubstr("trace:2: 3 columns instead of two"));
  EXPECT_THAT(error_of("1 5\n2\n"), HasSubstr("trace:2: 1 columns instead of two"));
  EXPECT_THAT(error_of("1 5\n\n2 5\n"), HasSubstr("trace:2: the line is empty"));
  EXPECT_THAT(error_of("0 5\n"), HasSubstr("trace:1: the only row is stamped 0"));
  EXPECT_THAT(error_of("1 400000001\n"),
              HasSubstr("trace:1: the rate `400000001` is absurd in Mbit/s; check the unit"));
  EXPECT_THAT(error_of("1 1e300\n"), HasSubstr("trace:1: the rate `1e300` is absurd"));
  EXPECT_THAT(error_of("1 5\n1e9 5\n2e9 5\n"),
              HasSubstr("trace:2: the trace is longer than ten years"));
  ReadOptions starts;  // the last row must not last as long as the age of the clock
  starts.stamps = StampRule::kStart;
  EXPECT_THAT(error_of("0 5\n9223372036 5\n", starts),
              HasSubstr("trace:2: the trace is longer than ten years"));
}

TEST(TwoColumn, AnUnknownUnitIsNamed) {
  ReadOptions options;
  options.unit = "parsec";
  EXPECT_THAT(error_of("1 5\n", options),
              HasSubstr("--unit: unknown unit `parsec`; known: bit/s, kbit/s, Mbit/s"));
}

}  // namespace
}  // namespace sluice
