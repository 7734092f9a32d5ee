// CSV: a header, a column of times, a column of rates, and never a guess about their units.
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

TEST(Csv, ARateHoldsFromItsTimeOn) {
  const LinkTrace trace = read_one("time_s,rate_mbps\n10,5\n12,7\n15,5\n");
  EXPECT_EQ(trace.reader, "csv");
  EXPECT_EQ(trace.unit, "Mbit/s");
  EXPECT_EQ(trace.kind, TraceKind::kAchievedThroughput);
  EXPECT_EQ(trace.num_rows, 3);
  EXPECT_EQ(trace.length, 8s);  // the last row lasts as long as the one before it: 3 s
  EXPECT_THAT(trace.steps,
              ElementsAre(RateStep{0s, mbit(5)}, RateStep{2s, mbit(7)}, RateStep{5s, mbit(5)}));
}

TEST(Csv, ALastRowWithoutARateIsTheEnd) {
  const LinkTrace trace = read_one("t_ns,rate_bps\n0,8000000\n500,16000000\n700,\n");
  EXPECT_EQ(trace.length, 700ns);
  EXPECT_EQ(trace.num_rows, 2);
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0ns, mbit(8)}, RateStep{500ns, mbit(16)}));
}

TEST(Csv, UnitsStandInTheHeaderInThreeWays) {
  for (const char* header :
       {"time_ms,rate_kbps", "time [ms],rate [kbit/s]", "time (ms),\"rate (kbit/s)\""}) {
    const LinkTrace trace = read_one(std::string(header) + "\n0,8000\n250,4000\n");
    EXPECT_EQ(trace.length, 500ms) << header;
    EXPECT_EQ(trace.steps.front().rate, mbit(8)) << header;
  }
}

TEST(Csv, BytesAndBitsAreNotTheSame) {
  EXPECT_EQ(read_one("time_s,rate [MB/s]\n0,1\n1,1\n").steps.front().rate, mbit(8));
  EXPECT_EQ(read_one("time_s,rate [Mbit/s]\n0,1\n1,1\n").steps.front().rate, mbit(1));
  EXPECT_EQ(read_one("time_s,rate_bytes_per_sec\n0,1000000\n1,1\n").steps.front().rate, mbit(8));
}

TEST(Csv, AUnitThatIsNotInTheFileMustBeGiven) {
  const std::string text = "time,throughput\n0,1\n1,2\n";
  EXPECT_EQ(error_of(text),
            "error: trace:1: the time column `time` does not say its unit; give --time-unit, as in "
            "`--time-unit s`");
  ReadOptions options;
  options.time_unit = "s";
  EXPECT_EQ(error_of(text, options),
            "error: trace:1: the rate column `throughput` does not say its unit; give --unit, as "
            "in `--unit Mbit/s`");
  options.unit = "Gbit/s";
  EXPECT_EQ(read_one(text, options).steps.front().rate, mbit(1000));
}

TEST(Csv, AnAbsurdUnitIsAnError) {
  EXPECT_EQ(error_of("time_s,rate [parsec]\n0,1\n1,2\n"),
            "error: trace:1: the rate column has the unknown unit `parsec`; give --unit, as in "
            "`--unit Mbit/s`");
  ReadOptions options;
  options.unit = "Mbit/h";
  EXPECT_THAT(error_of("time_s,rate\n0,1\n1,2\n", options),
              HasSubstr("--unit: unknown unit `Mbit/h`; known: bit/s"));
  options.unit = "Gbit/s";
  EXPECT_THAT(
      error_of("time_s,rate_bps\n0,1\n1,2\n", options),
      HasSubstr("trace:1: the header says `bps` and --unit says `Gbit/s`; correct one of them"));
}

TEST(Csv, AmongSeveralColumnsTheOneIsNamed) {
  const std::string text = "seq_num,a_throughput_mbps,b_throughput_mbps\n0,1,4\n1,2,5\n";
  EXPECT_THAT(error_of(text),
              HasSubstr("trace:1: no time column in the header: `seq_num`, `a_throughput_mbps`"));
  ReadOptions options;
  options.time_column = "seq_num";
  options.time_unit = "s";
  EXPECT_THAT(error_of(text, options),
              HasSubstr("several rate columns: `a_throughput_mbps`, `b_throughput_mbps`; choose "
                        "one with --rate-column"));
  options.rate_column = "b_throughput_mbps";
  EXPECT_EQ(read_one(text, options).steps.front().rate, mbit(4));
  options.rate_column = "c";
  EXPECT_THAT(error_of(text, options), HasSubstr("no column `c`; the header has `seq_num`"));
  options.rate_column = "seq_num";
  EXPECT_THAT(error_of(text, options), HasSubstr("`seq_num` is both the time and the rate column"));
}

TEST(Csv, AColumnCalledCapacityIsCapacity) {
  EXPECT_EQ(read_one("t_ns,capacity_bps\n0,1000000\n9,\n").kind, TraceKind::kCapacity);
  EXPECT_EQ(read_one("t_ns,rate_bps\n0,1000000\n9,\n").kind, TraceKind::kAchievedThroughput);
}

TEST(Csv, StampsCanBeDeclaredToEndIntervals) {
  ReadOptions options;
  options.stamps = StampRule::kEnd;
  EXPECT_EQ(read_one("time_s,rate_mbps\n1,5\n2,7\n", options).length, 2s);
}

TEST(Csv, QuotesBlanksCrlfAndAByteOrderMarkAreFine) {
  const LinkTrace trace =
      read_one("\xEF\xBB\xBF\"time_s\", \"rate_mbps\",note\r\n0, 5,\"a, b\"\r\n1,6,\r\n");
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(5)}, RateStep{1s, mbit(6)}));
}

TEST(Csv, WhatIsWrongIsNamedWithItsLine) {
  const std::string header = "time_s,rate_mbps\n";
  EXPECT_THAT(error_of("", testing::with_reader("csv")), HasSubstr("trace: the file is empty"));
  EXPECT_THAT(error_of(header), HasSubstr("trace: no row follows the header"));
  EXPECT_THAT(error_of("0,5\n1,6\n"),
              HasSubstr("trace:1: the file has no header; add a first line such as"));
  EXPECT_THAT(error_of(header + "0,5\n1,-6\n"), HasSubstr("trace:3: the rate `-6` is negative"));
  EXPECT_THAT(error_of(header + "1,5\n0,6\n"),
              HasSubstr("trace:3: the time 0 s goes back behind the row before"));
  EXPECT_THAT(error_of(header + "1,5\n1,6\n"),
              HasSubstr("trace:3: the time 1 s is equal to that of the row before"));
  EXPECT_THAT(error_of(header + "0,5,7\n"), HasSubstr("trace:2: 3 columns, but the header has 2"));
  EXPECT_THAT(error_of(header + "0\n"), HasSubstr("trace:2: 1 columns, but the header has 2"));
  EXPECT_THAT(error_of(header + "0,NaN\n"),
              HasSubstr("trace:2: the rate `NaN` is not a finite number"));
  EXPECT_THAT(error_of(header + "0,5\n1,inf\n"),
              HasSubstr("trace:3: the rate `inf` is not a finite number"));
  EXPECT_THAT(error_of(header + "0,5\n,6\n"),
              HasSubstr("trace:3: the time `` is not a finite number"));
  EXPECT_THAT(error_of(header + "0,\n"), HasSubstr("trace:2: the rate `` is not a finite number"));
  EXPECT_THAT(error_of(header + "0,5\n1,\n2,6\n"),
              HasSubstr("trace:4: a row follows the one with the empty rate"));
  EXPECT_THAT(error_of(header + "0,5\n\n"), HasSubstr("trace:3: the line is empty"));
  EXPECT_THAT(error_of(header + "0,\"5\n"), HasSubstr("trace:2: a quote is not closed"));
  EXPECT_THAT(error_of(header + "0,5\n"),
              HasSubstr("trace:2: one row that begins an interval does not say"));
  EXPECT_THAT(error_of(header + "0,5e20\n"),
              HasSubstr("trace:2: the rate `5e20` is absurd in Mbit/s"));
}

}  // namespace
}  // namespace sluice
