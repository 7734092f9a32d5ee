// Sound files with bytes flipped, cut, doubled and spliced: every registered reader gives sound
// traces or one error line, and never takes long. Each case is named by (reader, seed), so a
// failure can be run again.
#include <gtest/gtest.h>

#include <chrono>

#include "tests/traces/reader_inputs.h"
#include "tests/traces/trace_helpers.h"

namespace sluice {
namespace {

using testing::TraceFolder;

constexpr std::uint64_t kNumMutants = 3000;           // per reader
constexpr auto kTimeLimit = std::chrono::seconds{2};  // per mutant, on a busy machine

class ReaderFuzz : public ::testing::TestWithParam<std::string> {};

TEST_P(ReaderFuzz, EachSoundFileIsReadAndFoundByItself) {
  const std::vector<testing::ReaderInput> inputs = testing::reader_inputs(GetParam());
  ASSERT_FALSE(inputs.empty()) << "give files for the reader " << GetParam();
  const TraceFolder folder;
  for (const testing::ReaderInput& input : inputs) {
    const auto traces = testing::read_mutant(input, input.text, folder.path(""), true);
    EXPECT_TRUE(traces.ok()) << traces.error().to_line();
  }
  const auto found = detect_reader(folder.path(inputs.front().name));
  EXPECT_TRUE(found.ok()) << found.error().to_line();
}

TEST_P(ReaderFuzz, ThreeThousandMutantsGiveSoundTracesOrOneErrorLine) {
  const std::vector<testing::ReaderInput> inputs = testing::reader_inputs(GetParam());
  ASSERT_FALSE(inputs.empty()) << "give files for the reader " << GetParam();
  const TraceFolder folder;
  std::uint64_t num_read = 0, num_refused = 0;
  for (std::uint64_t seed = 0; seed < kNumMutants; ++seed) {
    RandomStream random(seed, GetParam(), 0);
    const testing::ReaderInput& input = inputs[random.below(inputs.size())];
    const std::string text = testing::mutate_trace(input.text, random);
    const bool name_the_reader = random.bernoulli(0.8);
    const auto began = std::chrono::steady_clock::now();
    const auto outcome = testing::read_mutant(input, text, folder.path(""), name_the_reader);
    ASSERT_LT(std::chrono::steady_clock::now() - began, kTimeLimit)
        << GetParam() << ", seed " << seed;
    ASSERT_EQ(testing::complaint(outcome), "") << GetParam() << ", seed " << seed;
    (outcome.ok() ? num_read : num_refused) += 1;
  }
  // Mutants that all fail, or all pass, would test nothing.
  EXPECT_GT(num_read, kNumMutants / 50);
  EXPECT_GT(num_refused, kNumMutants / 50);
}

INSTANTIATE_TEST_SUITE_P(Registered, ReaderFuzz, ::testing::ValuesIn(testing::reader_ids()),
                         testing::case_name);

}  // namespace
}  // namespace sluice
