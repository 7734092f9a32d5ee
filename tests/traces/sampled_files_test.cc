// NYU-METS, SparkTraces and Starlink: a rate per sample, each with a clock of its own kind.
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

TEST(NyuMets, EachRowIsASecondWithItsOwnUnit) {
  const LinkTrace trace =
      read_one("13.9,Mbits/sec\r\n0,Mbits/sec\r\n500,Kbits/sec\r\n", {}, "Q.csv");
  EXPECT_EQ(trace.reader, "nyu-mets");
  EXPECT_EQ(trace.length, 3s);
  EXPECT_EQ(trace.num_rows, 3);
  EXPECT_EQ(trace.unit, "in each row");
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, DataRate::bits_per_sec(13'900'000)},
                                       RateStep{1s, DataRate::zero()},
                                       RateStep{2s, DataRate::bits_per_sec(500'000)}));
  EXPECT_EQ(read_one("13.9,Mbits/sec\n", {}, "Q.csv").unit, "Mbit/s");
}

TEST(NyuMets, AUnitThatMeansTwoThingsIsRefused) {
  EXPECT_THAT(error_of("1,Mbits/sec\n2,MBytes/sec\n", {}, "Q.csv"),
              HasSubstr("Q.csv:2: the unit `MBytes/sec` is none of iperf's in bits"));
  EXPECT_THAT(error_of("1,Mbits/sec\n2\n", {}, "Q.csv"),
              HasSubstr("Q.csv:2: 1 columns instead of two"));
  EXPECT_THAT(error_of("1,Mbits/sec\n\n", {}, "Q.csv"), HasSubstr("Q.csv:2: the line is empty"));
}

TEST(Spark, ARowHoldsFromItsTimeOnWithDelayAndLoss) {
  const LinkTrace trace =
      read_one("0.000 12.48 29.9ms 0.00\n0.015 8.11 30.5ms 0.25\n0.030 8.11 20.0ms 0.25\n");
  EXPECT_EQ(trace.reader, "spark");
  EXPECT_EQ(trace.length, 45ms);
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, DataRate::bits_per_sec(12'480'000)},
                                       RateStep{15ms, DataRate::bits_per_sec(8'110'000)}));
  ASSERT_TRUE(trace.delay && trace.loss);
  EXPECT_THAT(trace.delay->steps, ElementsAre(DelayStep{0s, 14'950us}, DelayStep{15ms, 15'250us},
                                              DelayStep{30ms, 10ms}));
  EXPECT_THAT(trace.loss->steps, ElementsAre(LossStep{0s, 0}, LossStep{15ms, 250'000}));
}

TEST(Spark, StampsCanBeDeclaredToEndIntervals) {
  ReadOptions options;
  options.stamps = StampRule::kEnd;
  const LinkTrace trace = read_one("1 10 4ms 0\n2 20 6ms 1\n", options);
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(10)}, RateStep{1s, mbit(20)}));
  EXPECT_THAT(trace.delay->steps, ElementsAre(DelayStep{0s, 2ms}, DelayStep{1s, 3ms}));
  EXPECT_THAT(trace.loss->steps, ElementsAre(LossStep{0s, 0}, LossStep{1s, 1'000'000}));
}

TEST(Spark, TwoColumnsAreTimeAndBandwidth) {
  const LinkTrace trace = read_one("5.0 10\n5.2 20\n", testing::with_reader("spark"));
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(10)}, RateStep{200ms, mbit(20)}));
  EXPECT_EQ(trace.length, 400ms);
  EXPECT_FALSE(trace.delay.has_value());
}

TEST(Spark, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT(error_of("0 1 2ms 0\n1 1 2 0\n"),
              HasSubstr("trace:2: the round trip `2` has no unit; write it as in `32.0ms`"));
  EXPECT_THAT(error_of("0 1 2ms 0\n1 1 2ms 1.5\n"),
              HasSubstr("trace:2: the loss `1.5` is no share of the packets"));
  EXPECT_THAT(error_of("0 1 2ms 0\n1 1 xms 0\n"),
              HasSubstr("trace:2: round trip: the time `x` is not"));
  EXPECT_THAT(error_of("0 1 2ms 0\n1 1\n"), HasSubstr("trace:2: 2 columns instead of 4"));
  EXPECT_THAT(error_of("0 1\n1 1 2ms 0\n", testing::with_reader("spark")),
              HasSubstr("trace:2: 4 columns instead of 2"));
  EXPECT_THAT(error_of("0 1 2ms 0\n0 1 2ms 0\n"), HasSubstr("trace:2: the time 0 s is equal"));
}

constexpr std::string_view kStarlink =
    "timestamp_start_dl,timestamp_end_dl,download,timestamp_start_ul,timestamp_end_ul,upload,"
    "Speed(km/h)\n"
    "2024-04-19 16:23:00.5,2024-04-19 16:23:01.5,100,2024-04-19 16:23:00,2024-04-19 16:23:01,5,7\n"
    "2024-04-19 16:23:01.5,2024-04-19 16:23:02.5,50,2024-04-19 16:23:01,2024-04-19 16:23:02,6,\n"
    "2024-04-19 16:23:12.5,2024-04-19 16:23:13.5,0,2024-04-19 16:23:12,2024-04-19 16:23:13,7,\n";

LinkTrace starlink(const char* column) {
  ReadOptions options;
  options.rate_column = column;
  return read_one(kStarlink, options, "autobahn.csv");
}

TEST(Starlink, TimeWithoutAMeasurementIsLeftOutAndNoted) {
  const LinkTrace trace = starlink("download");
  EXPECT_EQ(trace.reader, "starlink");
  EXPECT_EQ(trace.length, 3s);
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(100)}, RateStep{1s, mbit(50)},
                                       RateStep{2s, DataRate::zero()}));
  EXPECT_THAT(trace.notes, ElementsAre("1 gaps without a measurement, 10 s in all, are left out"));
}

TEST(Starlink, EachDirectionHasItsOwnStamps) {
  EXPECT_THAT(starlink("upload").steps,
              ElementsAre(RateStep{0s, mbit(5)}, RateStep{1s, mbit(6)}, RateStep{2s, mbit(7)}));
  EXPECT_THAT(error_of(kStarlink, {}, "autobahn.csv"),
              HasSubstr("choose with --rate-column download or --rate-column upload"));
}

TEST(Starlink, WhatIsWrongIsNamedWithItsLine) {
  ReadOptions options;
  options.rate_column = "download";
  const auto wrong = [&](std::string_view rows) {
    return error_of("timestamp_start_dl,timestamp_end_dl,download,upload\n" + std::string(rows),
                    options, "a.csv");
  };
  const std::string first = "2024-04-19 16:23:00,2024-04-19 16:23:01,1,1\n";
  EXPECT_THAT(wrong("2024-04-19 16:23:01,2024-04-19 16:23:01,1,1\n"),
              HasSubstr("a.csv:2: the measurement ends before it begins"));
  EXPECT_THAT(wrong(first + first),
              HasSubstr("a.csv:3: the measurement begins before the one before it ends"));
  EXPECT_THAT(wrong("2024-02-30 16:23:01,2024-04-19 16:23:02,1,1\n"),
              HasSubstr("a.csv:2: the time `2024-02-30 16:23:01` is not a date and time"));
  EXPECT_THAT(wrong("2024-04-19 16:23:01.1234567890,2024-04-19 16:23:02,1,1\n"),
              HasSubstr("is not a date and time"));
  EXPECT_THAT(wrong(""), HasSubstr("a.csv: no row follows the header"));
}

}  // namespace
}  // namespace sluice
