// mahimahi: a line is an opportunity of 1500 bytes in the millisecond that ends there; the last
// line is the period.
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

const ReadOptions kMahimahi = testing::with_reader("mahimahi");

TEST(Mahimahi, OneLinePerMillisecondIs12MegabitPerSecond) {
  std::string text;
  for (int ms = 1; ms <= 1000; ++ms) text += std::to_string(ms) + "\n";
  const LinkTrace trace = read_one(text);
  EXPECT_EQ(trace.reader, "mahimahi");
  EXPECT_EQ(trace.kind, TraceKind::kCapacity);
  EXPECT_EQ(trace.end, TraceEnd::kLoop);
  EXPECT_EQ(trace.length, 1s);
  EXPECT_EQ(trace.num_rows, 1000);
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0ns, mbit(12)}));
}

TEST(Mahimahi, AFirstLineOfZeroIsTheInstantWhereTheLapBeforeEnds) {
  // 0 1 2 3 repeats every 3 ms with 4 packets: in mahimahi the 3 of one lap and the 0 of the next
  // fall together.
  const LinkTrace trace = read_one("0\n1\n2\n3\n");
  EXPECT_EQ(trace.length, 3ms);
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0ns, mbit(12)}, RateStep{2ms, mbit(24)}));
  const TraceCursor cursor(trace, 0s);
  EXPECT_EQ(cursor.capacity_between(kRunStart, kRunStart + 3ms).bytes(), 4 * 1500);
}

TEST(Mahimahi, APacketIsThroughAtItsMillisecond) {
  const LinkTrace trace = read_one("5\n5\n8\n");
  const TraceCursor cursor(trace, 0s);
  EXPECT_EQ(cursor.capacity_between(kRunStart, kRunStart + 4ms).bytes(), 0);
  EXPECT_EQ(cursor.capacity_between(kRunStart, kRunStart + 5ms).bytes(), 3000);
  EXPECT_EQ(cursor.capacity_between(kRunStart, kRunStart + 7ms).bytes(), 3000);
  EXPECT_EQ(cursor.capacity_between(kRunStart, kRunStart + 8ms).bytes(), 4500);
}

TEST(Mahimahi, SilenceIsRateZeroAndNeighboursMerge) {
  EXPECT_THAT(read_one("5\n6\n8\n").steps,
              ElementsAre(RateStep{0ns, DataRate::zero()}, RateStep{4ms, mbit(12)},
                          RateStep{6ms, DataRate::zero()}, RateStep{7ms, mbit(12)}));
}

TEST(Mahimahi, ALapMovesAllItsLinesOver1000Laps) {
  const LinkTrace trace = read_one("0\n0\n3\n7\n7\n11\n");
  EXPECT_EQ(TraceCursor(trace, 0s).capacity_between(kRunStart, kRunStart + 11s).bytes(),
            1000 * 6 * 1500);
}

TEST(Mahimahi, TheLastLineNeedsNoNewlineAndCrlfIsFine) {
  EXPECT_EQ(read_one("1\r\n2").steps, read_one("1\n2\n").steps);
}

TEST(Mahimahi, TheFastestPlausibleLinkIsReadAndAFasterOneRefused) {
  std::string text;
  for (int i = 0; i < 250; ++i) text += "1\n";  // 3 Gbit/s
  EXPECT_EQ(read_one(text).steps.front().rate, mbit(3000));
}

TEST(Mahimahi, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_EQ(error_of("", kMahimahi),
            "error: trace: the file is empty; give a trace with at least one row");
  EXPECT_EQ(error_of("1\n\n2\n"),
            "error: trace:2: the line is empty; delete it: each line is one opportunity");
  EXPECT_EQ(error_of("1\n2\nx\n"),
            "error: trace:3: `x` is not a whole number of milliseconds; write one number such as "
            "`12` per line");
  EXPECT_THAT(error_of("1\n2.5\n"), HasSubstr("trace:2: `2.5` is not a whole number"));
  EXPECT_THAT(error_of("1\n-2\n"), HasSubstr("trace:2: the time `-2` is negative"));
  EXPECT_THAT(error_of("7\n5\n"),
              HasSubstr("trace:2: time goes back: 5 ms after 7 ms; sort the lines"));
  EXPECT_THAT(error_of("0\n0\n"),
              HasSubstr("trace:2: the last value is 0, so the trace has no length"));
  EXPECT_THAT(error_of("1\n99999999999999999999\n"),
              HasSubstr("trace:2: `99999999999999999999` is not"));
  EXPECT_THAT(error_of("1\n999999999999\n"),
              HasSubstr("trace:2: 999999999999 ms is more than ten years"));
  EXPECT_THAT(error_of("1 \n2\n", kMahimahi), HasSubstr("trace:1: `1 ` is not"));
}

}  // namespace
}  // namespace sluice
