// The host side of sluice's CUDA decoder: what it needs, and its plan.
// Where in the flow: cuda.cu launches what stands in a plan's DecodeWork.
#pragma once

#include "codec/device/device_codec.h"
#include "codec/entropy/cuda_symbol_plan.h"
#include "codec/sluice/cuda_job.h"

namespace sluice::ladder {

// All launches of a section: at the start of its jobs. Pointers are the device's.
struct DecodeWork {
  entropy::SymbolLists lists;
  std::int16_t* models_dev = nullptr;
  const BasisJob* basis_jobs_dev = nullptr;
  const TokenJob* token_jobs_dev = nullptr;
  std::int64_t basis_units = 0, tokens = 0;
  unsigned num_tiles = 0, num_stages = 0;
  unsigned num_basis_jobs = 0, num_token_jobs = 0;  // none where the host found damage
};
[[nodiscard]] DecodeWork work_of(const DevicePlan& plan);

[[nodiscard]] Result<MemoryNeed> decode_memory(const SectionContext& context,
                                               std::span<const std::byte> payload,
                                               std::span<const DeviceSectionTensor> tensors);
[[nodiscard]] Result<DevicePlan> plan_decode(const SectionContext& context,
                                             std::span<const std::byte> payload,
                                             std::span<const DeviceSectionTensor> tensors,
                                             const LentMemory& memory, const LaunchTarget& target);

}  // namespace sluice::ladder
