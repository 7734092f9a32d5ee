// Is there a GPU, and what is it? The first question of whoever wants the CUDA backend.
// Where in the flow: before any plan. It includes no CUDA header and answers in every build.
#pragma once

#include <string>

#include "base/result.h"
#include "base/units.h"
#include "codec/device/device_codec.h"

namespace sluice {

struct GpuFacts {
  std::string name;            // as the driver says it
  int compute_capability = 0;  // 10 * major + minor
  int num_multiprocessors = 0;
  DataSize memory = DataSize::bytes(0);
  int driver_version = 0;   // 1000 * major + 10 * minor, as CUDA counts
  int runtime_version = 0;  // of the toolkit this was built with

  // With the row of its architecture, on `multiprocessors` of them at most.
  [[nodiscard]] LaunchTarget target() const;
  [[nodiscard]] LaunchTarget target(int multiprocessors) const;
};

// The current device. Errors: built without CUDA, no driver, no device.
[[nodiscard]] Result<GpuFacts> find_gpu();

}  // namespace sluice
