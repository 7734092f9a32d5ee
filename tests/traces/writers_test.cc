// Writers: what is read back is the same trace; where a format cannot hold it, the same bytes to
// within one packet.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/traces/trace_helpers.h"
#include "traces/generate.h"
#include "traces/write.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using testing::mbit;
using testing::text_of;
using testing::TraceFolder;

LinkTrace made(const GeneratorSpec& spec, Duration length, std::uint64_t seed = 1) {
  return *generate(spec, seed, 0, length);
}

LinkTrace there_and_back(const LinkTrace& trace, const std::string& format) {
  const TraceFolder folder;
  const Status written = write_traces(folder.path("out"), format, std::span(&trace, 1));
  EXPECT_TRUE(written.ok()) << written.error().to_line();
  const auto traces = read_traces(folder.path("out"), testing::with_reader(format));
  if (!traces) {
    ADD_FAILURE() << traces.error().to_line();
    return {};
  }
  return traces->front();
}

// Rates and times with all their digits, the first step often the longest.
LinkTrace random_trace(std::uint64_t seed) {
  RandomStream random(seed);
  LinkTrace trace;
  trace.name = "random";
  for (std::uint64_t i = 0, n = 1 + random.below(20); i < n; ++i) {
    const std::int64_t rate =
        random.bernoulli(0.2) ? 0 : static_cast<std::int64_t>(random.below(3'000'000'000));
    if (i > 0 && trace.steps.back().rate.bits_per_sec() == rate) continue;
    trace.steps.push_back({trace.length, DataRate::bits_per_sec(rate)});
    trace.length += nanoseconds(1 + static_cast<std::int64_t>(random.below(100'000'000)));
  }
  return trace;
}

class ExactFormat : public ::testing::TestWithParam<std::string> {};

TEST_P(ExactFormat, EveryStepComesBackToTheNanosecondAndTheBit) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const LinkTrace trace = random_trace(seed);
    const LinkTrace back = there_and_back(trace, GetParam());
    ASSERT_EQ(back.steps, trace.steps) << "seed " << seed;
    ASSERT_EQ(back.length, trace.length) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Writers, ExactFormat, ::testing::Values("csv", "two-column", "sabre"),
                         testing::case_name);

TEST(CsvWriter, KeepsTheKind) {
  for (const TraceKind kind : {TraceKind::kCapacity, TraceKind::kAchievedThroughput}) {
    LinkTrace trace = random_trace(1);
    trace.kind = kind;
    EXPECT_EQ(there_and_back(trace, "csv").kind, kind);
  }
}

TEST(CsvWriter, WritesOurOwnForm) {
  const TraceFolder folder;
  const LinkTrace trace = made(SquareSpec{mbit(10), 2s, mbit(1), 1s}, 3s);
  ASSERT_TRUE(write_traces(folder.path("out.csv"), "csv", std::span(&trace, 1)).ok());
  EXPECT_EQ(text_of(folder.path("out.csv")),
            "t_ns,capacity_bps\n0,10000000\n2000000000,1000000\n3000000000,\n");
}

TEST(TwoColumnWriter, WritesTheEndOfEachInterval) {
  const TraceFolder folder;
  const LinkTrace trace = made(SquareSpec{mbit(10), 2500ms, mbit(1), 1s}, 3500ms);
  ASSERT_TRUE(write_traces(folder.path("out"), "two-column", std::span(&trace, 1)).ok());
  EXPECT_EQ(text_of(folder.path("out")), "0\t10\n2.5\t10\n3.5\t1\n");
}

TEST(SabreWriter, WritesAPeriodWhereverRateOrDelayChanges) {
  const TraceFolder folder;
  LinkTrace trace = made(SquareSpec{mbit(10), 2s, mbit(1), 1s}, 3s);
  trace.delay = DelayTrace{{{0s, 10ms}, {1500ms, 12'500us}}, 3s};
  ASSERT_TRUE(write_traces(folder.path("out.json"), "sabre", std::span(&trace, 1)).ok());
  EXPECT_EQ(text_of(folder.path("out.json")),
            "[\n"
            "  {\"duration_ms\": 1500, \"bandwidth_kbps\": 10000, \"latency_ms\": 20},\n"
            "  {\"duration_ms\": 500, \"bandwidth_kbps\": 10000, \"latency_ms\": 25},\n"
            "  {\"duration_ms\": 1000, \"bandwidth_kbps\": 1000, \"latency_ms\": 25}\n"
            "]\n");
}

TEST(SabreWriter, TheDelayComesBackToTheNanosecond) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    LinkTrace trace = random_trace(seed);
    RandomStream random(seed, "delay", 0);
    DelayTrace delay{{}, trace.length};
    for (Duration at{}; at < trace.length;
         at += nanoseconds(1 + static_cast<std::int64_t>(random.below(200'000'000)))) {
      const auto ns = static_cast<std::int64_t>(1 + random.below(90'000'000));
      if (!delay.steps.empty() && delay.steps.back().delay == nanoseconds(ns)) continue;
      delay.steps.push_back({at, nanoseconds(ns)});
    }
    trace.delay = delay;
    const LinkTrace back = there_and_back(trace, "sabre");
    ASSERT_EQ(back.steps, trace.steps) << "seed " << seed;
    ASSERT_EQ(back.delay, trace.delay) << "seed " << seed;
  }
}

TEST(CacheGenWriter, WritesOneLinePerTraceAndLosesNothing) {
  const TraceFolder folder;
  std::vector<LinkTrace> traces;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    traces.push_back(made(UniformPerChunkSpec{mbit(100), mbit(10'000), 10}, 0s, seed));
  }
  ASSERT_TRUE(write_traces(folder.path("bw.jsonl"), "cachegen", traces).ok());
  const auto back = read_traces(folder.path("bw.jsonl"));
  ASSERT_TRUE(back.ok());
  ASSERT_EQ(back->size(), 5U);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ((*back)[i].steps, traces[i].steps);
}

TEST(MahimahiWriter, TwelveMegabitAreOneLinePerMillisecond) {
  const TraceFolder folder;
  const LinkTrace trace = made(ConstantSpec{mbit(12)}, 4ms);
  ASSERT_TRUE(write_traces(folder.path("out"), "mahimahi", std::span(&trace, 1)).ok());
  EXPECT_EQ(text_of(folder.path("out")), "1\n2\n3\n4\n");
}

TEST(MahimahiWriter, AResidueIsCarriedToTheNextMillisecond) {
  // 1 Mbit/s is 125 bytes per ms: a packet every 12 ms, 83 of them in a second; the last one marks
  // the period.
  const TraceFolder folder;
  const LinkTrace trace = made(ConstantSpec{mbit(1)}, 1s);
  ASSERT_TRUE(write_traces(folder.path("out"), "mahimahi", std::span(&trace, 1)).ok());
  std::string expected;
  for (int packet = 1; packet <= 82; ++packet) expected += std::to_string(12 * packet) + "\n";
  EXPECT_EQ(text_of(folder.path("out")), expected + "1000\n");
}

TEST(MahimahiWriter, AMahimahiFileComesBackByteForByte) {
  const TraceFolder folder;
  const std::string text = "3\n3\n7\n8\n8\n8\n20\n";
  const auto traces = read_traces(folder.write("in", text));
  ASSERT_TRUE(write_traces(folder.path("out"), "mahimahi", *traces).ok());
  EXPECT_EQ(text_of(folder.path("out")), text);
}

TEST(MahimahiWriter, BytesAreConservedAtEveryMillisecondToWithinTwoPackets) {
  // One packet is under way in the residue, and the last of the lap waits for its end.
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const LinkTrace trace = random_trace(seed);
    if (summarise(trace).max < mbit(1)) continue;
    const LinkTrace back = there_and_back(trace, "mahimahi");
    const Duration length = back.length;
    ASSERT_LT(length - trace.length, 1ms) << "seed " << seed;
    const TraceCursor before(trace, 0s), after(back, 0s);
    for (Duration ms = 1ms; ms <= trace.length; ms += 1ms) {
      const std::int64_t source = before.capacity_between(kRunStart, kRunStart + ms).bytes();
      const std::int64_t written = after.capacity_between(kRunStart, kRunStart + ms).bytes();
      ASSERT_LE(written, source) << "seed " << seed << " at " << to_text(ms);
      ASSERT_LT(source - written, 2 * 1500) << "seed " << seed << " at " << to_text(ms);
    }
    const std::int64_t source =
        before.capacity_between(kRunStart, kRunStart + trace.length).bytes();
    const std::int64_t written = after.capacity_between(kRunStart, kRunStart + length).bytes();
    ASSERT_LE(written, source) << "seed " << seed;
    ASSERT_LT(source - written, 1500) << "seed " << seed;
  }
}

std::string refusal(const LinkTrace& trace, std::string_view format) {
  const TraceFolder folder;
  folder.write("out", "as it was");
  const Status written = write_traces(folder.path("out"), format, std::span(&trace, 1));
  EXPECT_EQ(text_of(folder.path("out")), "as it was");  // nothing half-written
  return written.ok() ? "written" : written.error().to_line();
}

TEST(Writers, WhatAFormatCannotHoldIsRefusedAndNothingIsWritten) {
  const LinkTrace timed = made(ConstantSpec{mbit(10)}, 1s);
  const LinkTrace chunked = made(UniformPerChunkSpec{mbit(1), mbit(2), 3}, 0s);
  EXPECT_THAT(refusal(timed, "cachegen"),
              HasSubstr("has rates per time, cachegen holds rates per chunk; choose mahimahi"));
  EXPECT_THAT(refusal(chunked, "csv"),
              HasSubstr("has rates per chunk, csv holds rates per time; choose cachegen"));
  EXPECT_THAT(refusal(timed, "cvs"), HasSubstr("--to: unknown format `cvs`; did you mean `csv`?"));
  EXPECT_THAT(refusal(made(StepSpec{{{1s, mbit(1)}}, StepSpec::Then::kHold}, 2s), "csv"),
              HasSubstr("holds its last rate, but trace files repeat"));
  EXPECT_THAT(refusal(made(ConstantSpec{mbit(1)}, 11ms), "mahimahi"),
              HasSubstr("moves less than one packet"));
  EXPECT_THAT(refusal(made(ConstantSpec{DataRate::zero()}, 1s), "mahimahi"),
              HasSubstr("moves less than one packet"));
  EXPECT_THAT(refusal(made(ConstantSpec{mbit(100'000)}, 100s), "mahimahi"),
              HasSubstr("needs more than 100000000 lines"));
  EXPECT_THAT(refusal(made(ConstantSpec{DataRate::bits_per_sec(1)}, kMaxTraceLength), "mahimahi"),
              HasSubstr("is too long for mahimahi"));
}

TEST(Writers, SeveralTracesNeedAFormatForSeveral) {
  const TraceFolder folder;
  const std::vector<LinkTrace> two{random_trace(1), random_trace(2)};
  EXPECT_THAT(
      write_traces(folder.path("out"), "csv", two).error().to_line(),
      HasSubstr("csv holds one trace per file, not 2; choose one with --trace, or the format "
                "cachegen"));
  EXPECT_FALSE(std::filesystem::exists(folder.path("out")));
}

TEST(Writers, AFolderThatIsNotThereIsNamed) {
  const LinkTrace trace = random_trace(1);
  EXPECT_THAT(write_traces("/no/such/folder/out", "csv", std::span(&trace, 1)).error().to_line(),
              HasSubstr("/no/such/folder/out: cannot be written"));
}

TEST(Writers, EachIsNamedAfterAReader) {
  for (const WriterInfo& writer : writers()) {
    bool found = false;
    for (const ReaderSummary& reader : list_readers()) found = found || reader.id == writer.id;
    EXPECT_TRUE(found) << writer.id;
  }
}

}  // namespace
}  // namespace sluice
