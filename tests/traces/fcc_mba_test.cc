// FCC raw data: bytes per second, a trace per unit and target, intervals of one test, no header.
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

constexpr std::string_view kWebgetRows =
    "7,2022-01-01 00:10:00,http://a.com,1.2.3.4,2000000,2000000,1000000,9,1\n"
    "7,2022-01-01 00:10:05,http://b.com,1.2.3.4,1000000,250000,250000,9,1\n"
    "7,2022-01-01 06:10:00,http://a.com,1.2.3.4,500000,1000000,2000000,9,1\n";
constexpr std::string_view kWebgetHeader =
    "unit_id,dtime,target,address,fetch_time,bytes_total,bytes_sec,objects,successes\n";

TEST(FccMba, AUnitAndATargetAreATraceInBytesPerSecond) {
  const auto traces =
      testing::read_text(std::string(kWebgetHeader) + std::string(kWebgetRows), {}, "w.csv");
  ASSERT_TRUE(traces.ok()) << traces.error().to_line();
  ASSERT_EQ(traces->size(), 2U);
  const LinkTrace& a = (*traces)[0];
  EXPECT_EQ(a.reader, "fcc-mba");
  EXPECT_EQ(a.name, "w.csv#7/http://a.com");
  EXPECT_EQ(a.unit, "B/s");
  EXPECT_THAT(a.steps, ElementsAre(RateStep{0s, mbit(8)}, RateStep{2s, mbit(16)}));
  EXPECT_EQ(a.length, 2500ms);  // the six hours between are left out
  EXPECT_THAT(a.notes, ElementsAre("the time between measurements is left out"));
  EXPECT_EQ((*traces)[1].length, 1s);
}

TEST(FccMba, AFileWithoutAHeaderIsReadByPosition) {
  const auto with = testing::read_text(std::string(kWebgetHeader) + std::string(kWebgetRows));
  const auto without = testing::read_text(kWebgetRows, {}, "w.csv");
  ASSERT_TRUE(without.ok()) << without.error().to_line();
  ASSERT_EQ(without->size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_EQ((*without)[i].steps, (*with)[i].steps);
}

constexpr std::string_view kHttpgetRows =
    "7,2016-01-01 00:10:00,t,1.2.3.4,5000000,5,800000,1000000,0,0,0,3,1,0\n"
    "7,2016-01-01 00:10:00,t,1.2.3.4,10000000,5,900000,1200000,0,0,1,3,1,0\n"
    "7,2016-01-01 02:10:00,t,1.2.3.4,5000000,5,900000,250000,0,0,0,3,1,0\n";

TEST(FccMba, TheIntervalsOfATestLastFromOneToTheNext) {
  const LinkTrace trace = testing::read_one(kHttpgetRows, {}, "curr_httpgetmt.csv");
  EXPECT_EQ(trace.length, 15s);
  EXPECT_THAT(trace.steps,
              ElementsAre(RateStep{0s, mbit(8)}, RateStep{5s, DataRate::bits_per_sec(9'600'000)},
                          RateStep{10s, mbit(2)}));
}

TEST(FccMba, WhatFailedIsSkippedWithItsReason) {
  const auto traces = testing::read_text(std::string(kWebgetHeader) +
                                             "7,2022-01-01 00:10:00,a,x,2000000,2,1000000,9,1\n"
                                             "7,2022-01-01 00:11:00,a,x,0,0,0,9,0\n"
                                             "7,2022-01-01 00:12:00,a,x,0,0,0,9,1\n"
                                             "8,2022-01-01 00:12:00,a,x,0,0,0,9,0\n",
                                         {}, "w.csv");
  ASSERT_TRUE(traces.ok()) << traces.error().to_line();
  ASSERT_EQ(traces->size(), 1U);  // unit 8 measured nothing; the first trace tells
  EXPECT_EQ(traces->front().num_rows, 1);
  EXPECT_THAT(traces->front().skipped, ElementsAre(SkippedRows{2, "the measurement failed"},
                                                   SkippedRows{1, "it lasted no time"}));
}

TEST(FccMba, WhatIsWrongIsNamedWithItsLine) {
  const auto wrong = [](std::string_view row) {
    return error_of(std::string(kWebgetHeader) + std::string(row), {}, "w.csv");
  };
  EXPECT_THAT(wrong("7,yesterday,a,x,2,2,1,9,1\n"),
              HasSubstr("w.csv:2: the time `yesterday` is not a date and time"));
  EXPECT_THAT(wrong("7,2022-01-01 00:10:00,a,x,2.5,2,1,9,1\n"),
              HasSubstr("w.csv:2: the fetch_time `2.5` is not a whole number"));
  EXPECT_THAT(wrong("7,2022-01-01 00:10:00,a,x,999999999999999,2,1,9,1\n"),
              HasSubstr("w.csv:2: fetch_time: 999999999999999 us are absurd"));
  EXPECT_THAT(wrong("7,2022-01-01 00:10:00,a,x,2,2,-1,9,1\n"),
              HasSubstr("w.csv:2: the rate `-1` is negative"));
  EXPECT_THAT(wrong("7,2022-01-01 00:10:00,a,x,0,0,0,9,0\n"),
              HasSubstr("w.csv: no measurement succeeded"));
  EXPECT_THAT(wrong(""), HasSubstr("w.csv: no row follows the header"));
  EXPECT_THAT(error_of("7,2022-01-01 00:10:00,a,x,2,2,1\n8\n", {}, "w.csv"),
              HasSubstr("w.csv:2: 1 columns instead of 7"));
}

}  // namespace
}  // namespace sluice
