// Irish 4G/5G logs: whole-second stamps, doubled, missing and paused; kbit/s; a choice of
// direction.
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

ReadOptions downlink() {
  ReadOptions options;
  options.rate_column = "DL_bitrate";
  return options;
}

// A log of 2020-02-14 with the given rows behind 09.38.
std::string log_of(const std::vector<std::string>& rows) {
  std::string text = "Timestamp,Speed,DL_bitrate,UL_bitrate,State,PINGAVG\n";
  for (const std::string& row : rows) text += "2020.02.14_09.38." + row + "\n";
  return text;
}

LinkTrace read(const std::vector<std::string>& rows) {
  return testing::read_one(log_of(rows), downlink(), "log.csv");
}

TEST(Raca, ARowCoversTheTimeSinceTheSecondBefore) {
  const LinkTrace trace =
      read({"22,0,1000,9,D,-", "23,0,2000,9,D,-", "26,0,3000,9,D,-", "27,0,1000,9,D,-"});
  EXPECT_EQ(trace.reader, "raca");
  EXPECT_EQ(trace.unit, "kbit/s");
  EXPECT_EQ(trace.kind, TraceKind::kAchievedThroughput);
  EXPECT_EQ(trace.num_rows, 4);
  EXPECT_EQ(trace.length, 6s);  // the first row lasts a second
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(1)}, RateStep{1s, mbit(2)},
                                       RateStep{2s, mbit(3)}, RateStep{5s, mbit(1)}));
}

TEST(Raca, TheRowsOfOneSecondShareItEqually) {
  const LinkTrace trace = read({"22,0,1000,9,D,-", "24,0,2000,9,D,-", "24,0,4000,9,D,-"});
  EXPECT_EQ(trace.num_rows, 3);
  EXPECT_EQ(trace.num_skipped, 0);
  EXPECT_THAT(trace.steps,
              ElementsAre(RateStep{0s, mbit(1)}, RateStep{1s, mbit(2)}, RateStep{2s, mbit(4)}));
  EXPECT_EQ(trace.length, 3s);
}

TEST(Raca, APauseOfTheLoggerIsLeftOutAndNoted) {
  const LinkTrace trace = read({"22,0,1000,9,D,-", "32,0,2000,9,D,-", "43,0,3000,9,D,-"});
  EXPECT_THAT(trace.steps,
              ElementsAre(RateStep{0s, mbit(1)}, RateStep{1s, mbit(2)}, RateStep{11s, mbit(3)}));
  EXPECT_EQ(trace.length, 12s);  // 1 + 10 + 1: eleven seconds are a pause, ten are not
  EXPECT_THAT(trace.notes, ElementsAre("1 pauses of the logger, 10 s in all, are left out"));
}

TEST(Raca, ARowWithoutABitrateIsSkippedWithItsReason) {
  const LinkTrace trace = read({"22,0,1000,9,D,-", "23,0,-,-,I,-", "24,0,2000,9,D,-"});
  EXPECT_EQ(trace.num_rows, 2);
  EXPECT_THAT(trace.skipped, ElementsAre(SkippedRows{1, "no bitrate (`-`)"}));
  EXPECT_EQ(trace.length, 3s);
}

TEST(Raca, HalfOfAPingIsTheDelayUntilTheNextOne) {
  const LinkTrace trace = read({"22,0,1000,9,D,-", "23,0,1000,9,D,66.0", "24,0,1000,9,D,-",
                                "25,0,1000,9,D,80.5", "26,0,1000,9,D,-"});
  ASSERT_TRUE(trace.delay.has_value());
  EXPECT_THAT(trace.delay->steps, ElementsAre(DelayStep{0s, 33ms}, DelayStep{3s, 40'250us}));
  EXPECT_EQ(trace.delay->length, 5s);
  EXPECT_FALSE(read({"22,0,1000,9,D,-"}).delay.has_value());
}

TEST(Raca, TheUplinkIsTheOtherColumn) {
  ReadOptions options;
  options.rate_column = "UL_bitrate";
  EXPECT_EQ(testing::read_one(log_of({"22,0,1000,9,D,-"}), options).steps.front().rate,
            DataRate::bits_per_sec(9'000));
}

TEST(Raca, ColumnsAreFoundByNameAndMayBeFewer) {
  EXPECT_EQ(testing::read_one("UL_bitrate,DL_bitrate,Timestamp\n1,2,2018.01.02_03.04.05\n",
                              downlink(), "4g.csv")
                .steps.front()
                .rate,
            DataRate::bits_per_sec(2'000));
}

TEST(Raca, TheDirectionIsAskedFor) {
  EXPECT_EQ(error_of(log_of({"22,0,1000,9,D,-"}), {}, "log.csv"),
            "error: --rate-column: the file has a rate for each direction; choose with "
            "--rate-column DL_bitrate or --rate-column UL_bitrate");
  ReadOptions options;
  options.rate_column = "Speed";
  EXPECT_THAT(error_of(log_of({"22,0,1000,9,D,-"}), options),
              HasSubstr("--rate-column: `Speed` is none of the rates"));
}

TEST(Raca, WhatIsWrongIsNamedWithItsLine) {
  const auto wrong = [](const std::vector<std::string>& rows) {
    return error_of(log_of(rows), downlink(), "log.csv");
  };
  EXPECT_THAT(wrong({"22,0,1,1,D,-", "21,0,1,1,D,-"}),
              HasSubstr("log.csv:3: the Timestamp goes back behind the row before"));
  EXPECT_THAT(
      wrong({"61,0,1,1,D,-"}),
      HasSubstr("log.csv:2: the time `2020.02.14_09.38.61` is not a date and time; write it as "
                "`2020.02.14_09.38.22`"));
  EXPECT_THAT(wrong({"22,0,x,1,D,-"}), HasSubstr("log.csv:2: the rate `x` is not a finite number"));
  EXPECT_THAT(wrong({"22,0,1,1,D,x"}), HasSubstr("log.csv:2: PINGAVG: the time `x` is not"));
  EXPECT_THAT(wrong({"22,0,1,1,D,-", "23,0,1,1,D,1201000"}),  // a way of more than ten minutes
              HasSubstr("log.csv:3: PINGAVG: 1201 s is absurd; it is in ms"));
  EXPECT_THAT(wrong({"22,0,1,1,D"}), HasSubstr("log.csv:2: 5 columns instead of 6"));
  EXPECT_THAT(wrong({""}), HasSubstr("log.csv:2: 1 columns instead of 6"));
  EXPECT_THAT(wrong({"22,0,-,1,D,-"}), HasSubstr("log.csv: no row has a bitrate"));
  EXPECT_THAT(wrong(std::vector<std::string>(1001, "22,0,1,1,D,-")),
              HasSubstr("log.csv:1002: more than 1000 rows in one second"));
}

}  // namespace
}  // namespace sluice
