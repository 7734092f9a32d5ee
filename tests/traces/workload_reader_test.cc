// What holds for every workload format: order, clock, skipped rows, options, detection, statistics.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/traces/workload_helpers.h"
#include "traces/workload/summary.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::read_workload;
using testing::TraceFolder;
using testing::workload_error;
using testing::workload_reader;
using testing::WorkloadRead;

const std::string kVidur = "arrived_at,num_prefill_tokens,num_decode_tokens\n";

TEST(WorkloadReader, ARequestWithoutInputIsSkippedButItsTimeCounts) {
  const WorkloadRead read = read_workload(kVidur + "1,0,5\n3,7,5\n");
  ASSERT_EQ(read.requests.size(), 1U);
  EXPECT_EQ(read.requests[0].arrival, 2s);
  EXPECT_THAT(read.skipped,
              ElementsAre(SkippedRows{1, "no input tokens: there is nothing to load"}));
}

TEST(WorkloadReader, AnUnsoundRowIsNeverSkipped) {
  EXPECT_THAT(workload_error(kVidur + "0,1,1\n\n1,1,1\n"), HasSubstr("trace:3: the line is empty"));
  EXPECT_THAT(workload_error(kVidur + "2,1,1\n1,1,1\n"),
              HasSubstr("trace:3: the time is earlier than that of the line before"));
  EXPECT_THAT(workload_error(kVidur + "0,1,1\n400000000,1,1\n"),
              HasSubstr("trace:3: the time is more than ten years after the first"));
  EXPECT_THAT(workload_error(kVidur + "-1,1,1\n"),
              HasSubstr("trace:2: arrived_at: the time `-1` is negative"));
  EXPECT_THAT(workload_error(kVidur), HasSubstr("trace: no request follows the header"));
}

TEST(WorkloadReader, AnOptionWithoutUseIsAnError) {
  WorkloadOptions options;
  options.time_unit = "s";
  EXPECT_EQ(workload_error(kVidur, options),
            "error: --time-unit: the reader vidur has no use for it; leave it out");
  options = {};
  options.block_tokens = 16;
  EXPECT_THAT(workload_error(kVidur, options),
              HasSubstr("--block-tokens: the reader vidur has no use for it"));
  options = workload_reader("llmservingsim");
  options.block_tokens = 0;
  EXPECT_THAT(workload_error("{}", options), HasSubstr("--block-tokens: 0 is out of range"));
  EXPECT_THAT(workload_error(kVidur, workload_reader("vidr")),
              HasSubstr("--reader: unknown workload reader `vidr`; did you mean `vidur`?"));
}

TEST(WorkloadReader, AFileOfAnotherKindIsNoWorkload) {
  const TraceFolder folder;
  for (const char* text : {"0 1\n", "5\n", "{\"bw\": [1]}\n", "time_s,rate_mbps\n0,5\n",
                           "model,hardware,prompt_size,batch_size,token_size\n"}) {
    const auto found = detect_workload(folder.write("trace", text));
    ASSERT_TRUE(found.ok()) << text;
    EXPECT_FALSE(found->has_value()) << text;
  }
}

TEST(WorkloadSummary, CountsAndMeansCanBeCheckedByHead) {
  // Blocks: 1 2, then 1 2 3 (two lead and are known), then 9 2 (2 is known but does not lead).
  const TraceFolder folder;
  const auto line = [](int ms, int input, int output, const char* ids) {
    return "{\"timestamp\": " + std::to_string(ms) +
           ", \"input_length\": " + std::to_string(input) +
           ", \"output_length\": " + std::to_string(output) + ", \"hash_ids\": [" + ids + "]}\n";
  };
  const auto path =
      folder.write("trace", line(1000, 1024, 10, "1, 2") + line(1000, 1025, 20, "1, 2, 3") +
                                line(3500, 1000, 30, "9, 2"));
  const Result<WorkloadSummary> s = summarise_workload(path);
  ASSERT_TRUE(s.ok()) << s.error().to_line();
  EXPECT_EQ(s->num_requests, 3);
  EXPECT_EQ(s->duration, 2500ms);
  EXPECT_EQ(s->num_same_arrival, 1);
  EXPECT_EQ(s->input.sum, 3049);
  EXPECT_EQ(s->input.min, 1000);
  EXPECT_EQ(s->input.max, 1025);
  EXPECT_EQ(s->output->sum, 60);
  EXPECT_EQ(s->num_blocks, 7);
  EXPECT_EQ(s->num_reused_blocks, 2);
  EXPECT_DOUBLE_EQ(*s->block_reuse_fraction(), 2.0 / 7.0);
}

class EveryWorkloadReader : public ::testing::TestWithParam<std::string> {
 protected:
  WorkloadOptions options_ = [] {
    WorkloadOptions options = workload_reader(GetParam());
    if (GetParam() != "workload-csv") return options;
    options.time_column = "none";
    options.input_column = "a";
    options.output_column = "none";
    return options;
  }();
};

TEST_P(EveryWorkloadReader, RefusesBinaryData) {
  EXPECT_EQ(workload_error(std::string("\x7F"
                                       "ELF\0\0\1",
                                       7),
                           options_),
            "error: trace:1: holds binary data (byte 0x7f at column 1); give a text file");
}

TEST_P(EveryWorkloadReader, RefusesALineThatDoesNotEnd) {
  EXPECT_THAT(workload_error(std::string((16 << 20) + 2, ' '), options_),
              HasSubstr("trace:1: the line is longer than "));
}

TEST_P(EveryWorkloadReader, RefusesAnEmptyFileAndWhatIsNoFile) {
  EXPECT_EQ(workload_error("", options_),
            "error: trace: the file is empty; give a trace with at least one row");
  EXPECT_THAT(WorkloadReader::open("/dev/zero", options_).error().to_line(),
              HasSubstr("/dev/zero: is not a regular file"));
}

INSTANTIATE_TEST_SUITE_P(Registered, EveryWorkloadReader,
                         ::testing::ValuesIn(testing::workload_reader_ids()), testing::case_name);

}  // namespace
}  // namespace sluice
