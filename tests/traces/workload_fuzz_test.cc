// Sound workload files with bytes flipped, cut, doubled and spliced: every registered reader gives
// sound requests or one error line. Each case is named by (reader, seed).
#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/traces/mutate.h"
#include "tests/traces/workload_helpers.h"
#include "tests/traces/workload_seeds.h"

namespace sluice {
namespace {

using testing::TraceFolder;

constexpr std::uint64_t kNumMutants = 3000;  // per reader

class WorkloadFuzz : public ::testing::TestWithParam<std::string> {};

TEST_P(WorkloadFuzz, ThreeThousandMutantsGiveSoundRequestsOrOneErrorLine) {
  const std::vector<std::string> starts = testing::workload_seeds(GetParam());
  ASSERT_FALSE(starts.empty()) << "give seeds for the reader " << GetParam();
  const TraceFolder folder;
  std::uint64_t num_read = 0, num_refused = 0;
  for (std::uint64_t seed = 0; seed < kNumMutants; ++seed) {
    RandomStream random(seed, GetParam(), 0);
    const std::string& start = starts[random.below(starts.size())];
    const auto path =
        folder.write("mutant", random.bernoulli(0.5) ? testing::mutate(start, random)
                                                     : testing::change_digits(start, random));
    WorkloadOptions options = testing::workload_seed_options(GetParam());
    if (random.bernoulli(0.2)) options = {};  // through detection
    const testing::WorkloadOutcome outcome = testing::judge_workload(path, options);
    ASSERT_EQ(outcome.complaint, "") << GetParam() << ", seed " << seed;
    (outcome.was_read ? num_read : num_refused) += 1;
  }
  // Mutants that all fail, or all pass, would test nothing.
  EXPECT_GT(num_read, kNumMutants / 50);
  EXPECT_GT(num_refused, kNumMutants / 50);
}

INSTANTIATE_TEST_SUITE_P(Registered, WorkloadFuzz,
                         ::testing::ValuesIn(testing::workload_reader_ids()), testing::case_name);

}  // namespace
}  // namespace sluice
