// Real public workloads of ../shared/data/workload against the figures of its MANIFEST.md. Every
// file there is read, with these figures, or the test fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <unordered_set>

#include "tests/traces/workload_helpers.h"
#include "traces/workload/summary.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using testing::read_workload_file;
using ::testing::StartsWith;

std::filesystem::path workloads() {
  return std::filesystem::path(SLUICE_SOURCE_DIR) / ".." / "shared" / "data" / "workload";
}

class SharedWorkload : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::is_directory(workloads())) {
      GTEST_SKIP() << "no real workloads: " << workloads()
                   << " is absent; the readers are tested on files made by hand only";
    }
  }
};

// Means that the manifest and network-facts.md print whole have half a token as tolerance.
struct Figures {
  const char* file;
  const char* sha256;
  const char* reader;
  std::int64_t num_requests;
  std::optional<Duration> duration;
  std::optional<double> input_mean, output_mean;
  std::int64_t input_min, input_max;
};

const std::vector<Figures>& figures() {
  static const std::vector<Figures> kFiles{
      // 57 to 58 minutes; the last of the buckets of about three seconds is at 3536.999 s.
      {"mooncake_conversation_trace.jsonl", "b8cbb061a85206d7", "mooncake", 12031, 3'536'999ms,
       std::nullopt, std::nullopt, 891, 126195},
      {"azure_llm_2023_code.csv", "54e9a6d2a4bd06ba", "azure-llm", 8819, 3'435'948'056us, 2048, 28,
       3, 7437},
      {"vidur_splitwise_code.csv", "f266b907d109d471", "vidur", 8819, 3'435'948'056us, 2048, 28, 3,
       7437},
      {"vidur_arxiv_summarization_lengths.csv", "9d3580538d915ca7", "vidur", 28257, std::nullopt,
       std::nullopt, std::nullopt, 1, 4054},
      {"llmservingsim_example_trace.jsonl", "8e55b35d62c0530f", "llmservingsim", 10,
       1'026'970'077ns - 46'926'808ns, std::nullopt, std::nullopt, 2, 22},
      {"splitwise_sim_test_trace.csv", "4048699985519151", "splitwise-sim", 3, 3s, 8192.0 / 3,
       56.0 / 3, 2048, 4096},
  };
  return kFiles;
}

TEST_F(SharedWorkload, EveryFileHasAnEntryHere) {
  std::set<std::string> there, here;
  for (const auto& entry : std::filesystem::directory_iterator(workloads()))
    there.insert(entry.path().filename());
  for (const Figures& f : figures()) here.insert(f.file);
  EXPECT_EQ(there, here);
}

TEST_F(SharedWorkload, EveryFileHasTheFiguresOfTheManifest) {
  for (const Figures& f : figures()) {
    const Result<WorkloadSummary> s = summarise_workload(workloads() / f.file);
    ASSERT_TRUE(s.ok()) << s.error().to_line();
    EXPECT_EQ(s->reader, f.reader) << f.file;
    EXPECT_THAT(s->sha256, StartsWith(f.sha256)) << f.file;
    EXPECT_EQ(s->num_requests, f.num_requests) << f.file;
    EXPECT_EQ(s->num_skipped(), 0) << f.file;
    EXPECT_EQ(s->duration, f.duration) << f.file;
    EXPECT_EQ(s->input.min, f.input_min) << f.file;
    EXPECT_EQ(s->input.max, f.input_max) << f.file;
    const auto n = static_cast<double>(f.num_requests);
    if (f.input_mean) {
      EXPECT_NEAR(s->input.sum / n, *f.input_mean, 0.5) << f.file;
    }
    if (f.output_mean) {
      EXPECT_NEAR(s->output->sum / n, *f.output_mean, 0.5) << f.file;
    }
  }
}

TEST_F(SharedWorkload, MooncakeRepeats36Point6PercentOfItsBlocksAllOfThemAsPrefixes) {
  const auto path = workloads() / "mooncake_conversation_trace.jsonl";
  const Result<WorkloadSummary> s = summarise_workload(path);
  ASSERT_TRUE(s.ok());
  EXPECT_EQ(s->block_tokens, 512);
  EXPECT_NEAR(*s->block_reuse_fraction(), 0.366, 0.0005);
  EXPECT_EQ(s->num_same_arrival, 10851);  // share the stamp of the request before
  // Blocks seen before anywhere, not only where a request begins: as many.
  std::unordered_set<std::uint64_t> seen;
  std::int64_t num_repeated = 0;
  const auto read = read_workload_file(path);
  ASSERT_TRUE(read.ok());
  for (const WorkloadRequest& request : read->requests) {
    EXPECT_EQ(request.blocks.front(), 0U);  // the manifest: first id is 0 in every row
    for (const std::uint64_t id : request.blocks) num_repeated += seen.insert(id).second ? 0 : 1;
  }
  EXPECT_EQ(num_repeated, s->num_reused_blocks);
}

TEST_F(SharedWorkload, VidursCopyOfTheAzureTraceIsTheSameRowByRowWithinAMicrosecond) {
  const auto azure = read_workload_file(workloads() / "azure_llm_2023_code.csv");
  const auto vidur = read_workload_file(workloads() / "vidur_splitwise_code.csv");
  ASSERT_TRUE(azure.ok() && vidur.ok());
  ASSERT_EQ(azure->requests.size(), vidur->requests.size());
  for (std::size_t i = 0; i < azure->requests.size(); ++i) {
    const WorkloadRequest &a = azure->requests[i], &v = vidur->requests[i];
    ASSERT_EQ(a.input_tokens, v.input_tokens) << i;
    ASSERT_EQ(a.output_tokens, v.output_tokens) << i;
    ASSERT_LE(std::chrono::abs(*a.arrival - *v.arrival), 1us) << i;
  }
}

TEST_F(SharedWorkload, LlmServingSimSharesPrefixesToTheTokenOrNotAtAll) {
  // Blocks of one token find the shared prefixes of the ten rows, blocks of 16 find none.
  WorkloadOptions options;
  options.block_tokens = 1;
  const auto path = workloads() / "llmservingsim_example_trace.jsonl";
  EXPECT_GT(*summarise_workload(path, options)->num_reused_blocks, 0);
  EXPECT_EQ(*summarise_workload(path)->num_reused_blocks, 0);
}

}  // namespace
}  // namespace sluice
