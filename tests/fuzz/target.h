// What a fuzz target is. The same bodies run under libFuzzer (libfuzzer_driver.cc) and, on the
// committed corpus and a bounded number of seeded mutations, as an ordinary test (fuzz_test.cc).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice::fuzz {

using Bytes = std::vector<std::byte>;
using Finding = std::optional<std::string>;  // what went wrong, if anything

// Changes bytes, and their number up to `bytes_max`: libFuzzer's mutator, or a seeded one.
using MutateBytes = std::function<void(Bytes& bytes, std::size_t bytes_max)>;

struct Target {
  std::string name;  // kebab-case: also the folder of its corpus
  // Runs every available backend over one input. A crash or a sanitizer's report is a finding too.
  std::function<Finding(std::span<const std::byte> input)> run;
  // Sound inputs to start from, always the same ones.
  std::function<std::vector<Bytes>()> seeds;
  // A change that knows the input's structure (checksums, sizes); `change` does the rest.
  std::function<void(Bytes& input, std::size_t bytes_max, std::uint64_t seed,
                     const MutateBytes& change)>
      mutate;
};

// Container, one per registered codec, capture, model profile, profile, scenario, the protocol of
// emulation, one per registered reader of link traces and of workload traces.
[[nodiscard]] const std::vector<Target>& all_targets();

[[nodiscard]] Target container_target();
[[nodiscard]] std::vector<Target> codec_targets();
[[nodiscard]] Target capture_target();
[[nodiscard]] Target model_profile_target();
[[nodiscard]] Target profile_target();
[[nodiscard]] Target scenario_target();
[[nodiscard]] Target emu_protocol_target();
[[nodiscard]] std::vector<Target> trace_targets();
[[nodiscard]] std::vector<Target> workload_targets();

// A mutator for safetensors files: the header's length follows it (capture_target.cc).
void mutate_safetensors(Bytes& file, std::size_t bytes_max, std::uint64_t seed,
                        const MutateBytes& change);

}  // namespace sluice::fuzz
