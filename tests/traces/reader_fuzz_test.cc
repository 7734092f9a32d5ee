// Sound files with bytes flipped, cut, doubled and spliced: every registered reader gives sound
// traces or one error line, and never takes long. Each case is named by (reader, seed), so a
// failure can be run again.
#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "tests/traces/mutate.h"
#include "tests/traces/trace_helpers.h"

namespace sluice {
namespace {

using testing::TraceFolder;

constexpr std::uint64_t kNumMutants = 3000;           // per reader
constexpr auto kTimeLimit = std::chrono::seconds{2};  // per mutant, on a busy machine

// Files to start from. A reader without one fails the test below.
const std::multimap<std::string, std::string>& seeds() {
  static const std::multimap<std::string, std::string> kSeeds{
      {"mahimahi", "0\n0\n3\n7\n7\n7\n12\n20\n21\n"},
      {"mahimahi", "1\r\n2\r\n1000\r\n"},
      {"two-column", "0.0\t4.037\n0.55\t4.79\n0.88\t0\n1.35\t4.33e1\n"},
      {"two-column", "119.44 2.5\r\n119.94 2.7\r\n128.25 3.0\r\n"},
      {"cachegen", "{\"bw\": [0.1, 4.25, 1e1, 7]}\n{\"bw\": [3, 0]}\n"},
      {"csv", "time_s,rate_mbps\n0,5\n1.5,7e0\n3,0\n4,\n"},
      {"csv", "\"time [ms]\",note,rate (kB/s)\n0,\"a, b\",5\n10,,6\n"},
  };
  return kSeeds;
}

// Empty when the outcome is one that callers can live with.
std::string complaint(const Result<std::vector<LinkTrace>>& outcome) {
  if (!outcome.ok()) {
    const Error& error = outcome.error();
    if (error.file.empty() || error.what.empty() || error.fix.empty())
      return "an incomplete error: " + error.to_line();
    if (error.to_line().size() > 1000)
      return "an error of " + std::to_string(error.to_line().size()) + " bytes";
    if (error.to_line().find('\n') != std::string::npos) return "an error of two lines";
    return {};
  }
  if (outcome->empty()) return "no trace and no error";
  for (const LinkTrace& trace : *outcome) {
    if (const Status sound = check_trace(trace); !sound)
      return "an unsound trace: " + sound.error().to_line();
    if (trace.num_rows < 1 || trace.sha256.size() != 64 || trace.name.empty())
      return "an incomplete trace";
  }
  return {};
}

class ReaderFuzz : public ::testing::TestWithParam<std::string> {};

TEST_P(ReaderFuzz, ThreeThousandMutantsGiveSoundTracesOrOneErrorLine) {
  const auto [first, last] = seeds().equal_range(GetParam());
  ASSERT_NE(first, last) << "give seeds for the reader " << GetParam();
  const std::vector<std::pair<std::string, std::string>> starts(first, last);
  const TraceFolder folder;
  std::uint64_t num_read = 0, num_refused = 0;
  for (std::uint64_t seed = 0; seed < kNumMutants; ++seed) {
    RandomStream random(seed, GetParam(), 0);
    const auto path =
        folder.write("mutant", testing::mutate(starts[random.below(starts.size())].second, random));
    ReadOptions options;
    if (random.bernoulli(0.8)) options.reader = GetParam();  // else through detection
    const auto began = std::chrono::steady_clock::now();
    const auto outcome = read_traces(path, options);
    ASSERT_LT(std::chrono::steady_clock::now() - began, kTimeLimit)
        << GetParam() << ", seed " << seed;
    ASSERT_EQ(complaint(outcome), "") << GetParam() << ", seed " << seed;
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
