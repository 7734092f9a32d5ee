// Puffer: chunks of two files joined to transmission times.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/sha256.h"
#include "tests/traces/trace_helpers.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::mbit;
using testing::TraceFolder;

constexpr std::string_view kSentHeader =
    "time (ns GMT),session_id,index,expt_id,channel,video_ts,format,size,ssim_index,cwnd,in_flight,"
    "min_rtt,rtt,delivery_rate\n";
constexpr std::string_view kAckedHeader =
    "time (ns GMT),session_id,index,expt_id,channel,video_ts\n";

std::string sent_row(std::string_view ns, std::string_view session, std::string_view ts,
                     std::string_view size) {
  return fmt::format("15730000000{},{},0,1,abc,{},1280x720,{},0.98,14,0,20000,25000,1000\n", ns,
                     session, ts, size);
}
std::string acked_row(std::string_view ns, std::string_view session, std::string_view ts) {
  return fmt::format("15730000000{},{},0,1,abc,{}\n", ns, session, ts);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

// The traces of a pair of files with these rows, read by the name of one of them.
Result<std::vector<LinkTrace>> read_pair(const std::string& sent, const std::string& acked,
                                         std::string_view by = "video_sent_day.csv") {
  const TraceFolder folder;
  folder.write("video_sent_day.csv", std::string(kSentHeader) + sent);
  folder.write("video_acked_day.csv", std::string(kAckedHeader) + acked);
  return read_traces(folder.path(by));
}

TEST(Puffer, AChunksSizeOverItsTransmissionTimeIsAStep) {
  // 250 kB in 5 ms, then 1 MB in 20 ms: 400 Mbit/s each; the 10 ms between are left out.
  const auto traces =
      read_pair(sent_row("00000000", "s", "180180", "250000") +
                    sent_row("15000000", "s", "360360", "1000000"),
                acked_row("05000000", "s", "180180") + acked_row("35000000", "s", "360360"));
  ASSERT_TRUE(traces.ok()) << traces.error().to_line();
  ASSERT_EQ(traces->size(), 1U);
  const LinkTrace& trace = traces->front();
  EXPECT_EQ(trace.reader, "puffer");
  EXPECT_EQ(trace.kind, TraceKind::kAchievedThroughput);
  EXPECT_EQ(trace.num_rows, 2);
  EXPECT_EQ(trace.length, 25ms);
  EXPECT_THAT(trace.steps, ElementsAre(RateStep{0s, mbit(400)}));
  ASSERT_TRUE(trace.delay.has_value());
  EXPECT_THAT(trace.delay->steps, ElementsAre(DelayStep{0s, 10ms}));  // half of min_rtt
}

TEST(Puffer, StreamsAreTracesWhicheverFileIsNamed) {
  const std::string sent = sent_row("00000000", "a", "1", "1000") +
                           sent_row("00000000", "b", "1", "1000") +
                           sent_row("10000000", "a", "2", "1000");
  const std::string acked = acked_row("01000000", "b", "1") + acked_row("02000000", "a", "1") +
                            acked_row("12000000", "a", "2");
  for (const char* by : {"video_sent_day.csv", "video_acked_day.csv"}) {
    const auto traces = read_pair(sent, acked, by);
    ASSERT_TRUE(traces.ok()) << traces.error().to_line();
    ASSERT_EQ(traces->size(), 2U);
    EXPECT_EQ((*traces)[0].name, std::string(by) + "#a/0");
    EXPECT_EQ((*traces)[0].num_rows, 2);
    EXPECT_EQ((*traces)[1].sha256,
              sha256_hex(sent_row("00000000", "b", "1", "1000") + acked_row("01000000", "b", "1")));
  }
}

TEST(Puffer, RowsWithoutAPartnerAreSkippedWithTheirReason) {
  const auto traces = read_pair(
      sent_row("00000000", "a", "1", "1000") + sent_row("00000001", "a", "1", "1000") +
          sent_row("00000002", "a", "2", "1000") + sent_row("00000002", "lost", "2", "1000"),
      acked_row("01000000", "a", "1") + acked_row("01000001", "a", "1") +
          acked_row("01000000", "a", "7") + acked_row("00000001", "a", "2") +
          acked_row("01000000", "stray", "1"));
  ASSERT_TRUE(traces.ok()) << traces.error().to_line();
  ASSERT_EQ(traces->size(), 1U);
  EXPECT_EQ(traces->front().num_rows, 1);
  EXPECT_THAT(traces->front().skipped,
              ElementsAre(SkippedRows{1, "sent again: its video_ts does not go up in its stream"},
                          SkippedRows{1, "acknowledged again"},
                          SkippedRows{2, "acknowledged, but never sent"},
                          SkippedRows{1, "acknowledged before it was sent"},
                          SkippedRows{2, "sent, but never acknowledged"}));
}

TEST(Puffer, AFileAloneIsAskedForItsPartner) {
  const TraceFolder folder;
  const std::string text = std::string(kSentHeader) + sent_row("00000000", "a", "1", "1000");
  EXPECT_THAT(
      read_traces(folder.write("video_sent_day.csv", text)).error().to_line(),
      HasSubstr("video_acked_day.csv is not beside it; transmission times need both files"));
  EXPECT_THAT(read_traces(folder.write("day.csv", text)).error().to_line(),
              HasSubstr("the name does not say `video_sent`; call the pair video_sent_DAY.csv and "
                        "video_acked_DAY.csv"));
  folder.write("video_acked_day.csv", text);
  EXPECT_THAT(read_traces(folder.path("video_sent_day.csv")).error().to_line(),
              HasSubstr("both files have sizes, or neither has"));
}

TEST(Puffer, WhatIsWrongIsNamedWithItsFileAndLine) {
  const std::string good = sent_row("00000000", "a", "1", "1000");
  EXPECT_THAT(read_pair(good + sent_row("x", "a", "2", "1000"), "").error().to_line(),
              HasSubstr("video_sent_day.csv:3: the time `15730000000x` is not"));
  EXPECT_THAT(read_pair(sent_row("00000000", "a", "1", "-1"), "").error().to_line(),
              HasSubstr("video_sent_day.csv:2: the size `-1` is negative"));
  EXPECT_THAT(read_pair(good, acked_row("1", "a", "zz")).error().to_line(),
              HasSubstr("video_acked_day.csv:2: the video_ts `zz` is not a whole number"));
  EXPECT_THAT(
      read_pair(sent_row("00000000", "a", "1", "999999999999999"), acked_row("00000001", "a", "1"))
          .error()
          .to_line(),
      HasSubstr("video_acked_day.csv:2: 999999999999999 bytes in 1 ns are absurd"));
  EXPECT_THAT(read_pair(replaced(good, ",20000,", ",2000000000,"), "").error().to_line(),
              HasSubstr("video_sent_day.csv:2: min_rtt: 2000 s is absurd; it is in us"));
  EXPECT_THAT(read_pair(good, "").error().to_line(),
              HasSubstr("no chunk was sent and acknowledged"));
}

}  // namespace
}  // namespace sluice
