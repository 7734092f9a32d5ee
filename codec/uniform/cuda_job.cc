#include "codec/uniform/cuda_job.h"

#include <algorithm>
#include <bit>

#include "codec/damage.h"
#include "codec/device/plan.h"

namespace sluice::uniform {
namespace {

// Eight codes, their scale and eight elements each lie where one load reaches them.
bool can_take_eight(const TensorJob& job) {
  return lies_in_eights(job.tensor) && job.scales_at % 2 == 0 && job.codes_at % 8 == 0;
}

TensorJob make_job(const SectionLayout& layout, const DeviceTensor& tensor, std::int64_t payload_at,
                   const LaunchTarget& target) {
  TensorJob job;
  job.tensor = tensor;
  job.dim = static_cast<unsigned>(tensor.shape.dim);
  job.channels = static_cast<unsigned>(layout.channels);
  job.tokens = static_cast<unsigned>(layout.tokens);
  job.group = static_cast<unsigned>(layout.group);
  job.groups_per_token = static_cast<unsigned>(layout.scales_per_token);
  job.code_bytes_per_token = static_cast<unsigned>(layout.code_bytes_per_token);
  job.scales_at = payload_at;
  job.codes_at = payload_at + layout.scale_bytes();
  const auto unit = static_cast<unsigned>(target.parameters.unit_elements);
  job.tokens_per_unit = std::max(1U, unit / job.channels);
  job.channels_per_piece = can_take_eight(job) ? 8 : 2;
  const unsigned pieces = (job.group + job.channels_per_piece - 1) / job.channels_per_piece;
  job.lanes_per_group = std::min(32U, std::bit_ceil(pieces));
  return job;
}

std::int64_t payload_bytes(const Width& width, const SectionContext& context,
                           std::span<const DeviceSectionTensor> tensors) {
  std::int64_t bytes = 0;
  for (const DeviceSectionTensor& tensor : tensors) {
    const SectionLayout layout = layout_of(width, context, tensor.values.shape);
    bytes += layout.scale_bytes() + layout.code_bytes();
  }
  return bytes;
}

}  // namespace

Error decode_error(const Fault& fault) {
  return fault.kind == kScaleFault ? scale_error(fault.detail) : padding_error();
}

MemoryNeed encode_memory(const Width& width, const SectionContext& context,
                         std::span<const DeviceSectionTensor> tensors) {
  const std::size_t jobs = job_memory_bytes(tensors.size() * sizeof(TensorJob));
  return {.pinned_bytes = jobs,
          .work_bytes = jobs,
          .payload_bytes = static_cast<std::size_t>(payload_bytes(width, context, tensors))};
}

Result<MemoryNeed> decode_memory(const Width& width, const SectionContext& context,
                                 std::span<const std::byte> payload,
                                 std::span<const DeviceSectionTensor> tensors) {
  const MemoryNeed need = encode_memory(width, context, tensors);
  if (Status status = check_payload_size(static_cast<std::int64_t>(payload.size()),
                                         static_cast<std::int64_t>(need.payload_bytes));
      !status) {
    return status.error();
  }
  return need;
}

Result<DevicePlan> plan_section(const Width& width, const SectionContext& context,
                                std::span<const DeviceSectionTensor> tensors,
                                const LentMemory& memory, const LaunchTarget& target) {
  const MemoryNeed need = encode_memory(width, context, tensors);
  if (Status status = check_memory(memory, need); !status) return status.error();
  if (Status status = check_tensors(tensors); !status) return status.error();
  DevicePlan plan;
  plan.memory = memory;
  plan.target = target;
  plan.num_jobs = tensors.size();
  plan.job_bytes = tensors.size() * sizeof(TensorJob);
  RunHeader header;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const SectionLayout layout = layout_of(width, context, tensors[i].values.shape);
    TensorJob job = make_job(layout, tensors[i].values,
                             static_cast<std::int64_t>(header.payload_bytes), target);
    job.first_unit = plan.num_units;
    put_job(plan, i, job);
    plan.num_units += (layout.tokens + job.tokens_per_unit - 1) / job.tokens_per_unit;
    header.payload_bytes += static_cast<std::uint64_t>(layout.scale_bytes() + layout.code_bytes());
    header.side_bytes += static_cast<std::uint64_t>(layout.scale_bytes());
  }
  put_header(plan, header);
  return plan;
}

}  // namespace sluice::uniform
