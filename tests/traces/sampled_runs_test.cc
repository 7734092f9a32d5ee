// 5Gophers and raw Lumos5G: many runs in one file, told apart by their columns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "tests/traces/trace_helpers.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::mbit;

constexpr std::string_view kThroughput =
    "protocol,carrier,num_tcp_conn,server_location,run_num,seq_num,throughput_mbps\n"
    "TCP,VERIZON,1,US-East,1,0,10\n"
    "TCP,VERIZON,1,US-East,1,1,20\n"
    "TCP,VERIZON,8,US-East,1,0,80.5\n"
    "TCP,VERIZON,1,US-East,1,4,0\n";  // runs may take turns; seconds 2 and 3 are missing

TEST(FiveGophers, EachRunIsATraceNamedByItsColumns) {
  const auto traces = testing::read_text(kThroughput, {}, "all.csv");
  ASSERT_TRUE(traces.ok()) << traces.error().to_line();
  ASSERT_EQ(traces->size(), 2U);
  const LinkTrace& one = (*traces)[0];
  EXPECT_EQ(one.name, "all.csv#TCP/VERIZON/US-East/1/1");
  EXPECT_EQ(one.reader, "5gophers");
  EXPECT_EQ(one.num_rows, 3);
  EXPECT_EQ(one.kind, TraceKind::kAchievedThroughput);
  EXPECT_EQ((*traces)[1].name, "all.csv#TCP/VERIZON/US-East/8/1");
  EXPECT_EQ((*traces)[1].steps.front().rate.bits_per_sec(), 80'500'000);
  EXPECT_EQ((*traces)[1].length, 1s);
}

TEST(FiveGophers, AMissingSecondTakesTheRateBeforeIt) {
  const auto traces = testing::read_text(kThroughput, {}, "all.csv");
  ASSERT_TRUE(traces.ok());
  const LinkTrace& one = traces->front();
  EXPECT_THAT(one.steps, ElementsAre(RateStep{0s, mbit(10)}, RateStep{1s, mbit(20)},
                                     RateStep{4s, DataRate::zero()}));
  EXPECT_EQ(one.length, 5s);
  EXPECT_THAT(one.notes, ElementsAre("missing seconds that take the rate before them: 2"));
}

TEST(FiveGophers, TheHashIsThatOfTheRunsRows) {
  const auto traces = testing::read_text(kThroughput, {}, "all.csv");
  ASSERT_TRUE(traces.ok());
  EXPECT_EQ((*traces)[1].sha256, sha256_hex("TCP,VERIZON,8,US-East,1,0,80.5\n"));
}

TEST(FiveGophers, OneOfTheRunsCanBeChosen) {
  ReadOptions options;
  options.trace = "TCP/VERIZON/US-East/8/1";
  EXPECT_EQ(testing::read_one(kThroughput, options, "all.csv").num_rows, 1);
  options.trace = "1";
  EXPECT_EQ(testing::read_one(kThroughput, options, "all.csv").num_rows, 3);
  options.trace = "TCP/VERIZON/US-East/9/1";
  EXPECT_THAT(error_of(kThroughput, options, "all.csv"),
              HasSubstr("give a number from 1 to 2, or a name such as `TCP/VERIZON/US-East/"));
}

constexpr std::string_view kDriving =
    "protocol,num_tcp_conn,seq_num,Sprint_throughput_mbps,Verizon_throughput_mbps\n"
    "TCP,8,0,25,300\n"
    "TCP,8,1,50,0\n";

TEST(FiveGophers, CarriersSideBySideAreATraceEach) {
  const auto traces = testing::read_text(kDriving, {}, "car.csv");
  ASSERT_TRUE(traces.ok()) << traces.error().to_line();
  ASSERT_EQ(traces->size(), 2U);
  EXPECT_EQ((*traces)[1].name, "car.csv#Verizon_throughput_mbps");
  EXPECT_THAT((*traces)[1].steps,
              ElementsAre(RateStep{0s, mbit(300)}, RateStep{1s, DataRate::zero()}));
}

TEST(FiveGophers, OneCarrierCanBeChosenByItsColumn) {
  ReadOptions options;
  options.rate_column = "Sprint_throughput_mbps";
  const LinkTrace trace = testing::read_one(kDriving, options, "car.csv");
  EXPECT_EQ(trace.name, "car.csv");
  EXPECT_EQ(trace.sha256, sha256_hex(kDriving));
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(25)}, RateStep{1s, mbit(50)}));
  options.rate_column = "seq_num";
  EXPECT_THAT(error_of(kDriving, options, "car.csv"),
              HasSubstr("--rate-column: `seq_num` is none of the rates"));
}

TEST(FiveGophers, RoundTripsAloneAreNoLinkTrace) {
  EXPECT_EQ(error_of("rtt_ms,carrier,server_location\n40.0,SPRINT,US-East\n", {}, "rtt.csv"),
            "error: rtt.csv: round-trip times without rates or seconds are no link trace; use the "
            "throughput file, and set the link's delay to half of a round trip");
}

TEST(FiveGophers, WhatIsWrongIsNamedWithItsLine) {
  const auto wrong = [](std::string_view rows) {
    return error_of("protocol,num_tcp_conn,seq_num,A_throughput_mbps\n" + std::string(rows), {},
                    "car.csv");
  };
  EXPECT_THAT(wrong("TCP,8,0,1\nTCP,8,0,2\n"),
              HasSubstr("car.csv:3: the time 0 s is equal to that of the row before"));
  EXPECT_THAT(wrong("TCP,8,1,1\nTCP,8,0,2\n"), HasSubstr("car.csv:3: the time 0 s goes back"));
  EXPECT_THAT(wrong("TCP,8,0.5,1\n"), HasSubstr("car.csv:2: `0.5` is no number of a second"));
  EXPECT_THAT(wrong("TCP,8,1e12,1\n"), HasSubstr("car.csv:2: the time `1e12` is absurd in s"));
  EXPECT_THAT(wrong("TCP,8,1e9,1\n"), HasSubstr("car.csv:2: `1e9` is no number of a second"));
  EXPECT_THAT(wrong("TCP,8,0,-1\n"), HasSubstr("car.csv:2: the rate `-1` is negative"));
  EXPECT_THAT(wrong(""), HasSubstr("car.csv: no row follows the header"));
  EXPECT_THAT(error_of("protocol,num_tcp_conn,seq_num\nTCP,8,0\n", {}, "car.csv"),
              HasSubstr("car.csv: no column of rates, such as `throughput_mbps`"));
  EXPECT_THAT(error_of("protocol,carrier,seq_num,throughput_mbps\nTCP,A,0,1\n", {}, "all.csv"),
              HasSubstr("all.csv: no column `server_location`; the header has `protocol`"));
  const std::string long_name(501, 'x');
  EXPECT_THAT(error_of("protocol,carrier,server_location,num_tcp_conn,run_num,seq_num,"
                       "throughput_mbps\nTCP," +
                           long_name + ",E,1,1,0,1\n",
                       {}, "all.csv"),
              HasSubstr("all.csv:2: what names the trace is longer than 500 bytes"));
}

TEST(Lumos5GRaw, RunModeAndDirectionNameATrace) {
  const auto traces = testing::read_text(
      "run_num,seq_num,nrStatus,Throughput,mobility_mode,trajectory_direction,tower_id\n"
      "1,1,CONNECTED,100,walking,CW,5\n"
      "1,2,CONNECTED,200,walking,CW,5\n"
      "1,1,NONE,7,walking,ACW,5\n"
      "1,1,NONE,8,driving,CW,\n",
      {}, "Lumos5G.csv");
  ASSERT_TRUE(traces.ok()) << traces.error().to_line();
  ASSERT_EQ(traces->size(), 3U);
  EXPECT_EQ((*traces)[0].reader, "lumos5g-raw");
  EXPECT_EQ((*traces)[0].name, "Lumos5G.csv#1/walking/CW");
  EXPECT_THAT((*traces)[0].steps, ElementsAre(RateStep{0s, mbit(100)}, RateStep{1s, mbit(200)}));
  EXPECT_EQ((*traces)[1].name, "Lumos5G.csv#1/walking/ACW");
  EXPECT_EQ((*traces)[2].steps.front().rate, mbit(8));
  EXPECT_EQ((*traces)[2].unit, "Mbit/s");
}

}  // namespace
}  // namespace sluice
