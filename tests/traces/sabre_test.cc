// Sabre's list of periods: units, latency as a round trip, and what is refused at its line.
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

constexpr std::string_view kThreePeriods = R"([
    {"duration_ms": 1500, "bandwidth_kbps": 4000, "latency_ms": 20},
    {"duration_ms": 500, "bandwidth_kbps": 4000, "latency_ms": 50},
    {"latency_ms": 50, "duration_ms": 1000, "bandwidth_kbps": 0}
])";

TEST(Sabre, APeriodIsAnIntervalInMillisecondsAndKilobits) {
  const LinkTrace trace = read_one(kThreePeriods);
  EXPECT_EQ(trace.reader, "sabre");
  EXPECT_EQ(trace.unit, "kbit/s");
  EXPECT_EQ(trace.num_rows, 3);
  EXPECT_EQ(trace.length, 3s);
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(4)}, RateStep{2s, DataRate::zero()}));
}

TEST(Sabre, TheLatencyIsARoundTripSoHalfOfItIsTheDelay) {
  const LinkTrace trace = read_one(kThreePeriods);
  ASSERT_TRUE(trace.delay.has_value());
  EXPECT_THAT(trace.delay->steps, ElementsAre(DelayStep{0s, 10ms}, DelayStep{1500ms, 25ms}));
  EXPECT_EQ(trace.delay->length, 3s);
}

TEST(Sabre, NoLatencyAnywhereIsNoDelay) {
  EXPECT_FALSE(
      read_one(R"([{"duration_ms": 1, "bandwidth_kbps": 1, "latency_ms": 0}])").delay.has_value());
}

TEST(Sabre, APeriodOfNoTimeIsSkippedWithItsReason) {
  const LinkTrace trace = read_one(
      R"([{"duration_ms": 0, "bandwidth_kbps": 9, "latency_ms": 1},
          {"duration_ms": 2.5, "bandwidth_kbps": 8.5, "latency_ms": 1}])");
  EXPECT_EQ(trace.num_rows, 1);
  EXPECT_THAT(trace.skipped, ElementsAre(SkippedRows{1, "the period lasts 0 ms"}));
  EXPECT_EQ(trace.length, 2'500us);
  EXPECT_EQ(trace.steps.front().rate.bits_per_sec(), 8'500);
}

TEST(Sabre, LinesDoNotMatter) {
  EXPECT_EQ(read_one(R"([{"duration_ms":1,"bandwidth_kbps":2,"latency_ms":3}])").steps,
            read_one("[\r\n{\"duration_ms\":1\n,\"bandwidth_kbps\"\n:2,\"latency_ms\":3}\n\n]\n\n")
                .steps);
}

TEST(Sabre, WhatIsWrongIsNamedWithItsLine) {
  const auto sabre = testing::with_reader("sabre");
  EXPECT_THAT(error_of("[\n{\"duration_ms\": -5\n}]", sabre),
              HasSubstr("trace:2: duration_ms: the time `-5` is negative"));
  EXPECT_THAT(error_of("[\n\n{\"duration_ms\": 1, \"duration_ms\": 1}]", sabre),
              HasSubstr("trace:3: the key `duration_ms` stands twice"));
  EXPECT_THAT(error_of("[{\"bandwidth\": 1}]", sabre),
              HasSubstr("trace:1: unknown key `bandwidth`; write [{\"duration_ms\": 1000"));
  EXPECT_THAT(error_of("[{\"duration_ms\": 1, \"latency_ms\": 1}\n]", sabre),
              HasSubstr("trace:1: a period has no `bandwidth_kbps`"));
  EXPECT_THAT(error_of("[[]]", sabre), HasSubstr("trace:1: a list is out of place"));
  EXPECT_THAT(error_of("[{\"duration_ms\": {}}]", sabre), HasSubstr("an object is out of place"));
  EXPECT_THAT(error_of("[{\"duration_ms\": \"1\"}]", sabre), HasSubstr("a string is out of place"));
  EXPECT_THAT(error_of("[null]", sabre), HasSubstr("null is out of place"));
  EXPECT_THAT(error_of("7", sabre), HasSubstr("a number is out of place"));
  EXPECT_THAT(error_of("[]", sabre), HasSubstr("no period lasts any time"));
  EXPECT_THAT(error_of("[\n{\"duration_ms\": 1,\n", sabre), HasSubstr("not the JSON of a list"));
  EXPECT_THAT(error_of("[]]", sabre), HasSubstr("no period lasts any time"));
  EXPECT_THAT(error_of(R"([{"duration_ms": 1e12, "bandwidth_kbps": 1, "latency_ms": 1}])", sabre),
              HasSubstr("the trace is longer than ten years"));
  EXPECT_THAT(error_of(R"([{"duration_ms": 1, "bandwidth_kbps": 1, "latency_ms": 1e7}])", sabre),
              HasSubstr("the delay 5000 s is outside 0 .. "));
}

}  // namespace
}  // namespace sluice
