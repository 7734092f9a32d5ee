// CacheGen's JSON lines: one trace per line, one rate in Gbit/s per chunk of a load.
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
using testing::read_one;
using testing::read_text;

TEST(CacheGen, EachNumberIsTheGigabitsOfOneChunk) {
  const LinkTrace trace = read_one(R"({"bw": [0.1, 2, 2, 10]})");
  EXPECT_EQ(trace.reader, "cachegen");
  EXPECT_EQ(trace.unit, "Gbit/s per chunk");
  EXPECT_EQ(trace.clock, TraceClock::kChunk);
  EXPECT_EQ(trace.kind, TraceKind::kCapacity);
  EXPECT_EQ(trace.length, 0s);
  EXPECT_EQ(trace.num_rows, 4);
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(100)}, RateStep{0s, mbit(2000)},
                                       RateStep{0s, mbit(2000)}, RateStep{0s, mbit(10000)}));
}

TEST(CacheGen, DecimalsDoNotPassThroughFloatingPoint) {
  // 0.299999999999999988898 is what a double makes of 0.3; the text says 0.3.
  EXPECT_EQ(read_one(R"({"bw": [0.3]})").steps.front().rate.bits_per_sec(), 300'000'000);
  EXPECT_EQ(read_one(R"({"bw": [4.123456789]})").steps.front().rate.bits_per_sec(), 4'123'456'789);
}

TEST(CacheGen, EachLineIsATraceOfItsOwn) {
  const auto traces = read_text("{\"bw\": [1]}\n{\"bw\": [2, 3]}\n", {}, "bw.jsonl");
  ASSERT_TRUE(traces.ok());
  ASSERT_EQ(traces->size(), 2U);
  EXPECT_EQ((*traces)[0].name, "bw.jsonl#1");
  EXPECT_EQ((*traces)[1].name, "bw.jsonl#2");
  EXPECT_EQ((*traces)[1].sha256, sha256_hex("{\"bw\": [2, 3]}"));
  EXPECT_EQ((*traces)[1].steps.size(), 2U);
}

TEST(CacheGen, OneLineHasTheHashOfTheFile) {
  EXPECT_EQ(read_one("{\"bw\": [1]}\n").sha256, sha256_hex("{\"bw\": [1]}\n"));
}

TEST(CacheGen, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT(error_of("", testing::with_reader("cachegen")),
              HasSubstr("trace: the file is empty"));
  EXPECT_EQ(error_of("{\"bw\": [1]}\n{\"bw\": [-1]}\n"),
            "error: trace:2: the rate `-1` is negative; a rate is zero or more");
  EXPECT_THAT(error_of("{\"bw\": [1]}\n{\"bw\": [0.5,\n"),
              HasSubstr("trace:2: not JSON from column 13 on; write one"));
  EXPECT_THAT(error_of("{\"bw\": [1]}\n\n"), HasSubstr("trace:2: the line is empty"));
  EXPECT_THAT(error_of(R"({"bw": []})"), HasSubstr("trace:1: `bw` is an empty list"));
  EXPECT_THAT(error_of(R"({"bw": [NaN]})"), HasSubstr("trace:1: not JSON"));
  EXPECT_THAT(error_of(R"({"bw": [1e999]})"), HasSubstr("trace:1: "));
  EXPECT_THAT(error_of(R"({"bw": ["1"]})"), HasSubstr("trace:1: a string is out of place"));
  EXPECT_THAT(error_of(R"({"bw": [[1]]})"), HasSubstr("trace:1: a list is out of place"));
  EXPECT_THAT(error_of(R"({"bw": 1})"), HasSubstr("trace:1: a number is out of place"));
  EXPECT_THAT(error_of(R"({"bw": [1], "rtt": 2})"), HasSubstr("trace:1: unknown key `rtt`"));
  EXPECT_THAT(error_of(R"({"bw": [1], "bw": [2]})"),
              HasSubstr("trace:1: the key `bw` stands twice"));
  EXPECT_THAT(error_of("{}", testing::with_reader("cachegen")),
              HasSubstr("trace:1: the key `bw` is missing"));
  EXPECT_THAT(error_of("[1]", testing::with_reader("cachegen")),
              HasSubstr("trace:1: a list is out of place"));
  EXPECT_THAT(error_of("7", testing::with_reader("cachegen")),
              HasSubstr("trace:1: a number is out of place"));
  EXPECT_THAT(error_of(R"({"bw": [400001]})"),
              HasSubstr("trace:1: the rate `400001` is absurd in Gbit/s"));
}

TEST(CacheGen, DeepNestingIsRefusedAtOnce) {
  EXPECT_THAT(error_of("{\"bw\": " + std::string(1'000'000, '['), {}),
              HasSubstr("trace:1: a list is out of place"));
}

}  // namespace
}  // namespace sluice
