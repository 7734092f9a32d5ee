// int4 on a GPU: the kernels of codec/uniform at 4 bits, and their entry in the registry.
#include "codec/device/launch.h"
#include "codec/device/plan.h"
#include "codec/int4/cuda.h"
#include "codec/int4/kernel.h"
#include "codec/uniform/cuda_kernels.h"

namespace sluice::int4 {

struct CodeWidth {
  static constexpr int kBits = 4;
  static constexpr float kCodeMax = 7.0F;
};

namespace {

constexpr uniform::Width kWidth{code_bytes, encode_token, decode_token};

Result<MemoryNeed> decode_memory(const SectionContext& context, std::span<const std::byte> payload,
                                 std::span<const DeviceSectionTensor> tensors) {
  return uniform::decode_memory(kWidth, context, payload, tensors);
}

Result<MemoryNeed> encode_memory(const SectionContext& context,
                                 std::span<const DeviceSectionTensor> tensors) {
  return uniform::encode_memory(kWidth, context, tensors);
}

Result<DevicePlan> plan_decode(const SectionContext& context, std::span<const std::byte> payload,
                               std::span<const DeviceSectionTensor> tensors,
                               const LentMemory& memory, const LaunchTarget& target) {
  if (const auto need = decode_memory(context, payload, tensors); !need) return need.error();
  auto plan = uniform::plan_section(kWidth, context, tensors, memory, target);
  if (plan) plan->payload = payload;
  return plan;
}

Result<DevicePlan> plan_encode(const SectionContext& context,
                               std::span<const DeviceSectionTensor> tensors,
                               const LentMemory& memory, const LaunchTarget& target) {
  return uniform::plan_section(kWidth, context, tensors, memory, target);
}

GridSize grid_of(const DevicePlan& plan) {
  return {.blocks = num_blocks(plan),
          .threads_per_block = static_cast<unsigned>(plan.target.parameters.threads)};
}

Status launch_decode(const DevicePlan& plan, StreamHandle stream) {
  return launch("int4: decode_tokens", grid_of(plan), stream, uniform::decode_tokens<CodeWidth>,
                jobs_dev<uniform::TensorJob>(plan), plan.num_jobs, plan.num_units,
                plan.memory.payload_dev.data(), header_dev(plan));
}

Status launch_encode(const DevicePlan& plan, StreamHandle stream) {
  return launch("int4: encode_tokens", grid_of(plan), stream, uniform::encode_tokens<CodeWidth>,
                jobs_dev<uniform::TensorJob>(plan), plan.num_jobs, plan.num_units,
                plan.memory.payload_dev.data());
}

}  // namespace
}  // namespace sluice::int4

namespace sluice {

DeviceCodec int4_device_codec() {
  return {.id = "int4",
          .decode_memory = int4::decode_memory,
          .plan_decode = int4::plan_decode,
          .launch_decode = int4::launch_decode,
          .decode_error = uniform::decode_error,
          .encode_memory = int4::encode_memory,
          .plan_encode = int4::plan_encode,
          .launch_encode = int4::launch_encode};
}

}  // namespace sluice
