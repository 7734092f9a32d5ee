// What every codec's plan does: memory for jobs, units of work, the copies around the kernels.
// Where in the flow: used by the host side of codec/*/cuda.cu.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "codec/device/device_codec.h"

namespace sluice {

// RunHeader and jobs, alike on both sides.
[[nodiscard]] inline std::size_t job_memory_bytes(std::size_t job_bytes) {
  return sizeof(RunHeader) + job_bytes;
}

// Enough memory lent, on 16-byte boundaries at least.
[[nodiscard]] Status check_memory(const LentMemory& memory, const MemoryNeed& need);
// Every tensor's address fits its elements, and a paged one's numbers are in range.
[[nodiscard]] Status check_tensors(std::span<const DeviceSectionTensor> tensors);

// The job at `index` in the plan's pinned memory.
template <typename Job>
void put_job(const DevicePlan& plan, std::size_t index, const Job& job) {
  std::memcpy(plan.memory.pinned.data() + job_memory_bytes(index * sizeof(Job)), &job, sizeof(Job));
}
inline void put_header(const DevicePlan& plan, const RunHeader& header) {
  std::memcpy(plan.memory.pinned.data(), &header, sizeof header);
}
[[nodiscard]] inline RunHeader get_header(const DevicePlan& plan) {
  RunHeader header;
  std::memcpy(&header, plan.memory.pinned.data(), sizeof header);
  return header;
}

[[nodiscard]] inline RunHeader* header_dev(const DevicePlan& plan) {
  return reinterpret_cast<RunHeader*>(plan.memory.work_dev.data());
}
template <typename Job>
[[nodiscard]] const Job* jobs_dev(const DevicePlan& plan) {
  return reinterpret_cast<const Job*>(plan.memory.work_dev.data() + sizeof(RunHeader));
}

// How many blocks share the units: all the multiprocessors hold, or fewer.
[[nodiscard]] inline unsigned num_blocks(const DevicePlan& plan) {
  const auto held = static_cast<std::int64_t>(plan.target.num_multiprocessors) *
                    plan.target.parameters.blocks_per_multiprocessor;
  return static_cast<unsigned>(std::min(plan.num_units, held));
}

}  // namespace sluice
