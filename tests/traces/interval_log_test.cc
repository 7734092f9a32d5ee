// Norway's and Ghent's logs: bytes per ms in six columns, told apart by the unit of the first.
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

TEST(Hsdpa, ARateIsBytesOverMilliseconds) {
  const LinkTrace trace = read_one(
      "1289406399 549692 59.851754 10.781778 250000 1000\n"
      "1289406400 550772 59.851864 10.781833 500000 2000\n"
      "1289406402 552772 59.851864 10.781833 0 500\n");
  EXPECT_EQ(trace.reader, "hsdpa");
  EXPECT_EQ(trace.kind, TraceKind::kAchievedThroughput);
  EXPECT_EQ(trace.num_rows, 3);
  EXPECT_EQ(trace.length, 3500ms);
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(2)}, RateStep{3s, DataRate::zero()}));
}

TEST(Ghent, MillisecondsSince1970TellItApart) {
  const LinkTrace trace = read_one(
      "1453121790686 39287 51.0386528885778 3.73220785642186 1250000 1000\n"
      "1453121792686 41287 51.0386553301824 3.73225142858955 2497500 0999\n");
  EXPECT_EQ(trace.reader, "ghent");
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(10)}, RateStep{1s, mbit(20)}));
  EXPECT_EQ(trace.length, 1999ms);
}

TEST(IntervalLog, AClockThatGoesBackEndsTheTrace) {
  const LinkTrace trace = read_one(
      "1289406399 5000 59.8 10.7 250000 1000\n"
      "1289406400 4000 59.8 10.7 125000 1000\n"
      "1289406401 9000 59.8 10.7 125000 1000\n");
  EXPECT_EQ(trace.length, 1s);
  EXPECT_THAT(trace.skipped,
              ElementsAre(SkippedRows{2, "the log began anew: its clock went back"}));
}

TEST(IntervalLog, ARowOfNoTimeIsSkipped) {
  const LinkTrace trace = read_one(
      "1289406399 5000 59.8 10.7 250000 1000\n"
      "1289406400 5000 59.8 10.7 0 0\n");
  EXPECT_THAT(trace.skipped, ElementsAre(SkippedRows{1, "no time passed since the row before"}));
}

TEST(IntervalLog, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT(error_of("1289406399 1 5.5 1.0 1 1\n", testing::with_reader("ghent")),
              HasSubstr("trace:1: the first column is in s since 1970, as hsdpa logs have it; read "
                        "it with --reader hsdpa"));
  EXPECT_THAT(error_of("1453121790686 1 5.5 1.0 1 1\n", testing::with_reader("hsdpa")),
              HasSubstr("read it with --reader ghent"));
  const auto wrong = [](std::string_view second) {
    return error_of("1289406399 1 5.5 1.0 1 1\n" + std::string(second) + "\n");
  };
  EXPECT_THAT(wrong("1289406400 2 5.5 1.0 1"), HasSubstr("trace:2: 5 columns instead of six"));
  EXPECT_THAT(wrong(""), HasSubstr("trace:2: the line is empty"));
  EXPECT_THAT(wrong("1289406400 2 5.5 1.0 x 1"),
              HasSubstr("trace:2: the number of bytes `x` is not a whole number"));
  EXPECT_THAT(wrong("1289406400 2 5.5 1.0 -1 1"), HasSubstr("number of bytes `-1` is negative"));
  EXPECT_THAT(wrong("1289406400 2 5.5 1.0 999999999999999 1"),
              HasSubstr("trace:2: 999999999999999 bytes in 1 ms are absurd"));
  EXPECT_THAT(wrong("1289406400 2 5.5 1.0 1 999999999999"),
              HasSubstr("trace:2: 999999999999 ms are more than ten years"));
  EXPECT_THAT(error_of("1289406399 1 5.5 1.0 1 0\n"), HasSubstr("trace: no row lasts any time"));
}

}  // namespace
}  // namespace sluice
