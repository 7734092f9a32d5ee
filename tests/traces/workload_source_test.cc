// A trace that is read again from anywhere: held in memory when small, from the file when large.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/traces/workload_helpers.h"
#include "traces/workload/workload_source.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TraceFolder;

std::vector<std::int64_t> inputs(const Result<std::vector<WorkloadRequest>>& requests) {
  std::vector<std::int64_t> tokens;
  if (!requests) ADD_FAILURE() << requests.error().to_line();
  if (requests) {
    for (const WorkloadRequest& request : *requests) tokens.push_back(request.input_tokens);
  }
  return tokens;
}

// One request a second; the i-th has i + 1 tokens.
std::string seconds_trace(int num_requests) {
  std::string text = "arrived_at,num_prefill_tokens,num_decode_tokens\n";
  for (int i = 0; i < num_requests; ++i)
    text += std::to_string(i) + "," + std::to_string(i + 1) + ",1\n";
  return text;
}

TEST(WorkloadSource, GivesAnyWindow) {
  const TraceFolder folder;
  const auto source = WorkloadSource::open(folder.write("trace", seconds_trace(5)), {});
  ASSERT_TRUE(source.ok()) << source.error().to_line();
  EXPECT_EQ(source->summary().num_requests, 5);
  EXPECT_THAT(inputs(source->requests(0, 2)), ElementsAre(1, 2));
  EXPECT_THAT(inputs(source->requests(3, 5)), ElementsAre(4, 5));
  EXPECT_THAT(inputs(source->requests(5, 5)), IsEmpty());
  EXPECT_EQ(*source->index_at(2s), 2);
  EXPECT_EQ(*source->index_at(2'500ms), 3);
  EXPECT_EQ(*source->index_at(1h), 5);
}

TEST(WorkloadSource, ATraceOfMoreThanAMillionRequestsIsReadFromItsFile) {
  const TraceFolder folder;
  const auto path = folder.write("trace", seconds_trace(1'000'005));
  const auto source = WorkloadSource::open(path, {});
  ASSERT_TRUE(source.ok()) << source.error().to_line();
  EXPECT_THAT(inputs(source->requests(3, 2)), ElementsAre(4, 5));
  EXPECT_THAT(inputs(source->requests(1'000'003, 5)), ElementsAre(1'000'004, 1'000'005));
  EXPECT_EQ(*source->index_at(7s), 7);
  std::filesystem::resize_file(path, 100);
  EXPECT_THAT(source->requests(0, 1).error().to_line(),
              HasSubstr("has changed since the scenario was read; start again"));
}

TEST(WorkloadSource, AFaultAnywhereInTheFileIsFoundAtOnce) {
  const TraceFolder folder;
  EXPECT_THAT(WorkloadSource::open(folder.write("trace", seconds_trace(5) + "x,1,1\n"), {})
                  .error()
                  .to_line(),
              HasSubstr("trace:7: arrived_at: the time `x` is not a finite number"));
}

}  // namespace
}  // namespace sluice
