// Real public traces of mahimahi and of two columns against every figure that the MANIFEST.md of
// ../shared/data/links gives of them. All other files: shared_links_test.cc.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/traces/shared_links.h"
#include "traces/write.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::StartsWith;

class SharedFigures : public testing::SharedLinksFixture {};

// mean as printed by the manifest in Mbit/s, with half a unit of its last digit as tolerance.
struct MahimahiFigures {
  const char* file;
  const char* sha256;
  std::int64_t num_lines;
  double mean_mbit, mean_tolerance;
  Duration length;
  Duration longest_silence;    // between two opportunities
  std::int64_t max_in_one_ms;  // 0: not listed
};

TEST_F(SharedFigures, MahimahiFilesHaveTheFiguresOfTheManifest) {
  const std::vector<MahimahiFigures> kFiles{
      {"ATT-LTE-driving-2016.down", "24a40538340de991", 45604, 4.56, 0.005, 120'002ms, 1123ms, 29},
      {"ATT-LTE-driving-2016.up", "ebb3d53674b77be4", 19101, 1.91, 0.005, 120'002ms, 4061ms, 0},
      {"Verizon-LTE-short.down", "c918436fbd6246af", 58655, 5.03, 0.005, 140s, 1447ms, 0},
      {"Verizon-LTE-short.up", "f6cd9049f58d70f1", 69367, 5.95, 0.005, 140s, 1718ms, 43},
      {"TMobile-LTE-short.down", "4f33dce8dd811b57", 194846, 16.7, 0.05, 139'986ms, 917ms, 0},
  };
  for (const MahimahiFigures& f : kFiles) {
    const LinkTrace trace = read(std::string("mahimahi/") + f.file);
    const TraceSummary s = summarise(trace);
    EXPECT_EQ(trace.reader, "mahimahi") << f.file;
    EXPECT_THAT(trace.sha256, StartsWith(f.sha256)) << f.file;
    EXPECT_EQ(trace.num_rows, f.num_lines) << f.file;
    EXPECT_NEAR(s.mean.megabits_per_sec(), f.mean_mbit, f.mean_tolerance) << f.file;
    EXPECT_EQ(s.length, f.length) << f.file;
    // An opportunity fills the millisecond that ends at it, so the rate is zero one millisecond
    // less.
    EXPECT_EQ(s.longest_outage, f.longest_silence - 1ms) << f.file;
    if (f.max_in_one_ms > 0) {
      EXPECT_EQ(s.max, testing::mbit(12 * f.max_in_one_ms)) << f.file;
    }
    const TraceCursor cursor(trace, 0s);
    EXPECT_EQ(cursor.capacity_between(kRunStart, kRunStart + s.length).bytes(), 1500 * f.num_lines)
        << f.file;
  }
}

TEST_F(SharedFigures, AMahimahiFileThatDoesNotBeginAtZeroIsWrittenBackByteForByte) {
  const testing::TraceFolder folder;
  const LinkTrace trace = read("mahimahi/Verizon-LTE-short.up");
  ASSERT_TRUE(write_traces(folder.path("out.up"), "mahimahi", std::span(&trace, 1)).ok());
  EXPECT_EQ(testing::text_of(folder.path("out.up")),
            testing::text_of(testing::shared_links() / "mahimahi/Verizon-LTE-short.up"));
}

struct TwoColumnFigures {
  const char* file;
  const char* sha256;
  std::int64_t num_rows, num_skipped;
  Duration length;
};

TEST_F(SharedFigures, PensieveFilesHaveTheirRowsAndLengths) {
  const std::vector<TwoColumnFigures> kFiles{
      {"fcc_trace_10009.txt", "8b53d0ba390291b9", 261, 1, 532'837'600us},
      {"norway_bus_1", "a1e3ee6a1dfc35a3", 266, 1, 154'759'999'990ns},
      {"norway_car_12_part3.log", "88fb40bbf1b4dcc5", 45, 1,
       224'509'999'990ns - 119'440'000'057ns},  // a slice
      {"oboe_trace_0.txt", "106bdbbafe22d661", 49, 0,
       176'082ms},  // first stamp 0.474 s, its clock began at zero
      {"puffer_211017_a.txt", "5be216679d4ed944", 205, 1, 394'108'000'040ns},
  };
  for (const TwoColumnFigures& f : kFiles) {
    const LinkTrace trace = read(std::string("pensieve/") + f.file);
    EXPECT_EQ(trace.reader, "two-column") << f.file;
    EXPECT_THAT(trace.sha256, StartsWith(f.sha256)) << f.file;
    EXPECT_EQ(trace.num_rows + trace.num_skipped, f.num_rows) << f.file;
    EXPECT_EQ(trace.num_skipped, f.num_skipped) << f.file;
    EXPECT_EQ(trace.length, f.length) << f.file;
    EXPECT_EQ(summarise(trace).num_zero_steps, 0) << f.file;
  }
}

TEST_F(SharedFigures, PensieveFilesHaveThePeaksAndStepsOfTheManifest) {
  const LinkTrace puffer = read("pensieve/puffer_211017_a.txt");
  EXPECT_NEAR(summarise(puffer).max.megabits_per_sec(), 36.5, 0.05);
  const LinkTrace bus = read("pensieve/norway_bus_1");  // uneven steps of 0.18 to 4.34 s
  Duration shortest = bus.length, longest{};
  for (std::size_t i = 0; i < bus.steps.size(); ++i) {
    shortest = std::min(shortest, step_end(bus, i) - bus.steps[i].start);
    longest = std::max(longest, step_end(bus, i) - bus.steps[i].start);
  }
  EXPECT_NEAR(to_seconds(shortest), 0.18, 0.005);
  EXPECT_NEAR(to_seconds(longest), 4.34, 0.005);
}

struct LumosFigures {
  const char* file;
  const char* sha256;
  std::int64_t num_rows, num_skipped;
  double mean_mbit, mean_tolerance;
  std::int64_t max_mbit;
  Duration zeros;  // one-second samples
};

TEST_F(SharedFigures, LumosFilesHaveTheFiguresOfTheManifest) {
  // The manifest gives no mean for the 4G file, which is the only one with a row stamped 0: 58.98
  // is the mean of its 800 rows, 59.01 that of the 799 intervals that the rows after it end.
  const std::vector<LumosFigures> kFiles{
      {"4g_trace_walking_50052_a.txt", "a5735202077ed062", 800, 1, 59.01, 0.005, 224, 33s},
      {"5g_trace_22_driving.txt", "01c27be48bcba860", 250, 0, 66.5, 0.05, 140, 6s},
      {"5g_trace_44_walking.txt", "ffb697f2bfa4cc6a", 799, 0, 538.6, 0.05, 1700, 19s},
      {"5g_trace_54_walking.txt", "b96bd41e39fb59c5", 799, 0, 906, 0.5, 1860, 49s},
      {"5g_trace_80_driving.txt", "100f38d9186a9b2f", 181, 0, 275, 0.5, 880, 0s},
  };
  for (const LumosFigures& f : kFiles) {
    const LinkTrace trace = read(std::string("lumos5g/") + f.file);
    const TraceSummary s = summarise(trace);
    EXPECT_EQ(trace.reader, "two-column") << f.file;
    EXPECT_EQ(trace.kind, TraceKind::kAchievedThroughput) << f.file;
    EXPECT_THAT(trace.sha256, StartsWith(f.sha256)) << f.file;
    EXPECT_EQ(trace.num_rows + trace.num_skipped, f.num_rows) << f.file;
    EXPECT_EQ(trace.num_skipped, f.num_skipped) << f.file;
    EXPECT_EQ(s.length, std::chrono::seconds(f.num_rows - f.num_skipped)) << f.file;
    EXPECT_NEAR(s.mean.megabits_per_sec(), f.mean_mbit, f.mean_tolerance) << f.file;
    EXPECT_EQ(s.max, testing::mbit(f.max_mbit)) << f.file;
    EXPECT_EQ(s.outage, f.zeros) << f.file;
  }
  EXPECT_EQ(summarise(read("lumos5g/5g_trace_80_driving.txt")).min, testing::mbit(12));
}

TEST_F(SharedFigures, OtherTwoColumnFilesAreReadToo) {
  EXPECT_EQ(read("spark/pitree_ghent_2.log").length, 530'841ms);    // CRLF, first stamp 0.84 s
  EXPECT_EQ(read("spark/pitree_lab_7.log").length, 456s);           // 1 s grid from 1
  EXPECT_EQ(read("spark/zhuge_office_wifi_1.log").num_skipped, 1);  // first stamp 3300.94 s
}

}  // namespace
}  // namespace sluice
