// CellReplay: trains of packets to capacity and delay; heavy traces with packets of 1400 B.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/traces/trace_helpers.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::read_one;

DataRate packets_per_ms(std::int64_t n) {
  return DataRate::bits_per_sec(n * 1400 * 8 * 1000);
}

TEST(CellReplay, ATrainsRateIsThatOfThePacketsBehindItsFirst) {
  // Four packets, the last three within 3 ms: one per ms. Then three within 1 ms: two per ms.
  const LinkTrace trace = read_one("0 20 0 1 2 3\n150 35 0 0 1\n300 20 0 1\n");
  EXPECT_EQ(trace.reader, "cellreplay");
  EXPECT_EQ(trace.kind, TraceKind::kCapacity);
  EXPECT_EQ(trace.length, 300ms);
  EXPECT_THAT(trace.steps,
              ElementsAre(RateStep{0s, packets_per_ms(1)}, RateStep{150ms, packets_per_ms(2)}));
  ASSERT_TRUE(trace.delay.has_value());
  EXPECT_THAT(trace.delay->steps, ElementsAre(DelayStep{0s, 20ms}, DelayStep{150ms, 35ms}));
  EXPECT_THAT(trace.skipped,
              ElementsAre(SkippedRows{1, "the last row only says where the trace ends"}));
  EXPECT_EQ(trace.num_rows, 2);
}

TEST(CellReplay, ATrainWithinOneMillisecondCountsWhole) {
  EXPECT_EQ(read_one("0 20 0 0 0\n10 20 0\n").steps.front().rate, packets_per_ms(3));
}

TEST(CellReplay, RowsThatSayNoRateAreSkippedWithTheirReason) {
  const LinkTrace trace = read_one("0 20 0\n5 20 0 1\n9 20 0 2\n9 20 0 1\n11 20 0 1\n");
  EXPECT_EQ(trace.length, 6ms);  // from 5 to 11 ms: the first row has no rate
  EXPECT_EQ(trace.num_rows, 2);
  EXPECT_THAT(trace.skipped,
              ElementsAre(SkippedRows{1, "the last row only says where the trace ends"},
                          SkippedRows{1, "its train has fewer than two packets"},
                          SkippedRows{1, "the next row has the same time"}));
}

TEST(CellReplay, HeavyTracesAreOpportunitiesOf1400Bytes) {
  const LinkTrace trace = read_one("1\n1\n2\n", testing::with_reader("cellreplay"));
  EXPECT_THAT(trace.steps,
              ElementsAre(RateStep{0s, packets_per_ms(2)}, RateStep{1ms, packets_per_ms(1)}));
  EXPECT_EQ(trace.unit, "1400 B packet/ms");
}

TEST(CellReplay, TrainsMayGrowAndShrinkFromRowToRow) {
  std::string longest = "10 20";
  for (int packet = 0; packet < 10'000; ++packet) longest += " " + std::to_string(packet / 4);
  // Four packets a ms: 9999 of them in 2499 ms.
  const LinkTrace trace = read_one("0 20 0 1 2\n" + longest + "\n20 20 0 1\n30 20 0 1 2 3\n");
  ASSERT_EQ(trace.steps.size(), 3U);
  EXPECT_EQ(trace.steps[0].rate, packets_per_ms(1));
  EXPECT_NEAR(trace.steps[1].rate.megabits_per_sec(), 11.2 * 9999 / 2499, 1e-5);
  EXPECT_EQ(trace.steps[2].rate, packets_per_ms(1));
  EXPECT_THAT(error_of("0 20 0 1\n" + longest + " 2500\n"), HasSubstr("trace:2: 10003 columns"));
}

TEST(CellReplay, WhatIsWrongIsNamedWithItsLine) {
  const auto wrong = [](std::string_view second) {
    return error_of("0 20 0 1 2\n" + std::string(second) + "\n99 20 0 1\n");
  };
  EXPECT_THAT(wrong("5 20 0 3 2"), HasSubstr("trace:2: the packets of a train go back in time"));
  EXPECT_THAT(wrong("5 x 0 3"), HasSubstr("trace:2: the delay `x` is not a whole number"));
  EXPECT_THAT(wrong("5 700000 0 3"), HasSubstr("trace:2: the delay 700 s is absurd"));
  EXPECT_THAT(wrong("5 -1 0 3"), HasSubstr("trace:2: the delay `-1` is negative"));
  EXPECT_THAT(wrong("5"), HasSubstr("trace:2: 1 columns; give time, delay and up to 10000"));
  EXPECT_THAT(wrong(""), HasSubstr("trace:2: the line is empty"));
  EXPECT_THAT(wrong("999999999999 20 0 1"), HasSubstr("the time 999999999999 ms is absurd"));
  EXPECT_THAT(error_of("9 20 0 1\n5 20 0 1\n"), HasSubstr("trace:2: time goes back"));
  EXPECT_THAT(error_of("0 20 0 1\n"), HasSubstr("trace:1: no train of two packets and more"));
  EXPECT_THAT(error_of("0 20 0\n5 20 0\n"), HasSubstr("no train of two packets and more"));
}

}  // namespace
}  // namespace sluice
