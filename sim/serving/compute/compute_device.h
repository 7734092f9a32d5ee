// What a prefill costs: recomputing a chunk at its position, and the pass to the first token.
// Where in the flow: the GPU of the session (step 3). Files: sim/serving/compute/devices/*.json.
// Surprises: a pass never takes less than reading the weights; `a40x4` is four A40 in a group.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "codec/geometry/geometry.h"
#include "codec/profile.h"

namespace sluice {

// A number of a device file, with where it comes from.
struct DeviceFact {
  double value = 0;
  FactSource source = FactSource::kEstimated;
  std::string note;  // source or derivation, in words
};

// Between the GPUs of one tensor-parallel group.
struct ParallelCost {
  DeviceFact interconnect_bytes_per_sec;  // each GPU, each way, reached by an all-reduce
  DeviceFact pass_overhead_s;             // on top of that of one GPU
};

// Time = overhead + the larger of arithmetic and memory traffic + all-reduces between GPUs.
struct RooflinePrefill {
  DeviceFact dense_flops_per_sec;      // reached by the weight matrices (2 per parameter and token)
  DeviceFact attention_flops_per_sec;  // by attention (4 per query head, dim, token, token before)
  DeviceFact memory_bytes_per_sec;
  DeviceFact weight_bytes_per_parameter;
  DeviceFact pass_overhead_s;  // scheduling and launch, once per pass
  std::optional<ParallelCost> parallel;
};

// The same time whatever the model, length and position.
struct ConstantPrefill {
  DeviceFact recompute_s;
  DeviceFact first_token_s;
};

struct ComputeDevice {
  std::string id;    // "a40", "a40x4"
  std::string gpu;   // "a40": one GPU of it; decode times go by this
  std::string name;  // "NVIDIA A40 48 GB"
  std::string note;
  std::string sha256;  // of the file's bytes, set by the reader
  std::int32_t gpus = 1;
  std::variant<RooflinePrefill, ConstantPrefill> prefill;

  // Tokens [position, position + tokens), everything before them resident. No tokens take no time.
  // Never less for more tokens or a later position. Throws std::overflow_error past 292 years.
  [[nodiscard]] Duration prefill_time(const ModelGeometry& model, std::int64_t tokens,
                                      std::int64_t position) const;
  // The pass over the `tokens` after the context that ends in the first token.
  [[nodiscard]] Duration first_token_time(const ModelGeometry& model, std::int64_t tokens,
                                          std::int64_t position) const;
};

[[nodiscard]] Result<ComputeDevice> read_device(const std::filesystem::path& file);
// By id, from the shipped devices, or an id and a number of GPUs from 2 to 64 ("a100x8"); the error
// names the nearest known one.
[[nodiscard]] Result<ComputeDevice> find_device(const std::string& id);
[[nodiscard]] Result<std::vector<ComputeDevice>> all_devices();

}  // namespace sluice
