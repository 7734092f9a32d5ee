// A workload trace: one target per registered reader, each with the seeds of its fuzz test.
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/target.h"
#include "tests/traces/workload_seeds.h"

namespace sluice::fuzz {
namespace {

Finding judge(const std::string& reader, std::span<const std::byte> input) {
  const MemoryFile file(input);
  const std::string complaint =
      testing::judge_workload(file.path(), testing::workload_seed_options(reader)).complaint;
  return complaint.empty() ? Finding{} : Finding{complaint};
}

std::vector<Bytes> seeds(const std::string& reader) {
  std::vector<Bytes> inputs;
  for (const std::string& text : testing::workload_seeds(reader)) {
    const auto bytes = std::as_bytes(std::span(text));
    inputs.emplace_back(bytes.begin(), bytes.end());
  }
  return inputs;
}

}  // namespace

std::vector<Target> workload_targets() {
  std::vector<Target> targets;
  for (const WorkloadReaderSummary& info : list_workload_readers()) {
    const std::string reader = info.id;
    targets.push_back(
        {.name = "workload-" + reader,
         .run = [reader](std::span<const std::byte> input) { return judge(reader, input); },
         .seeds = [reader] { return seeds(reader); },
         .mutate = [](Bytes& input, std::size_t bytes_max, std::uint64_t,
                      const MutateBytes& change) { change(input, bytes_max); }});
  }
  return targets;
}

}  // namespace sluice::fuzz
