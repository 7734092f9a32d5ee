// int8 and int4 as device codecs: one text, a template over their width.
// Where in the flow: instantiated by codec/int8/cuda.cu and codec/int4/cuda.cu for the registry.
#pragma once

#include "codec/device/launch.h"
#include "codec/device/plan.h"
#include "codec/uniform/cuda_kernels.h"

namespace sluice::uniform {

// `CodeWidth`: what the kernels need (kBits, kCodeMax), the names of the two launches for errors,
// and width(), the scalar loops whose layout it is.
template <typename CodeWidth>
struct WidthOnDevice {
  static Result<MemoryNeed> decode_memory(const SectionContext& context,
                                          std::span<const std::byte> payload,
                                          std::span<const DeviceSectionTensor> tensors) {
    return uniform::decode_memory(CodeWidth::width(), context, payload, tensors);
  }

  static Result<MemoryNeed> encode_memory(const SectionContext& context,
                                          std::span<const DeviceSectionTensor> tensors) {
    return uniform::encode_memory(CodeWidth::width(), context, tensors);
  }

  static Result<DevicePlan> plan_decode(const SectionContext& context,
                                        std::span<const std::byte> payload,
                                        std::span<const DeviceSectionTensor> tensors,
                                        const LentMemory& memory, const LaunchTarget& target) {
    if (const auto need = decode_memory(context, payload, tensors); !need) return need.error();
    auto plan = plan_encode(context, tensors, memory, target);
    if (plan) plan->payload = payload;
    return plan;
  }

  static Result<DevicePlan> plan_encode(const SectionContext& context,
                                        std::span<const DeviceSectionTensor> tensors,
                                        const LentMemory& memory, const LaunchTarget& target) {
    return plan_section(CodeWidth::width(), context, tensors, memory, target);
  }

  static GridSize grid_of(const DevicePlan& plan) {
    return {.blocks = num_blocks(plan),
            .threads_per_block = static_cast<unsigned>(plan.target.parameters.threads)};
  }

  static Status launch_decode(const DevicePlan& plan, StreamHandle stream) {
    return launch(CodeWidth::kDecodeName, grid_of(plan), stream, decode_tokens<CodeWidth>,
                  jobs_dev<TensorJob>(plan), plan.num_jobs, plan.num_units,
                  plan.memory.payload_dev.data(), header_dev(plan));
  }

  static Status launch_encode(const DevicePlan& plan, StreamHandle stream) {
    return launch(CodeWidth::kEncodeName, grid_of(plan), stream, encode_tokens<CodeWidth>,
                  jobs_dev<TensorJob>(plan), plan.num_jobs, plan.num_units,
                  plan.memory.payload_dev.data());
  }

  static DeviceCodec codec(std::string_view id) {
    return {.id = id,
            .decode_memory = decode_memory,
            .plan_decode = plan_decode,
            .launch_decode = launch_decode,
            .decode_error = decode_error,
            .encode_memory = encode_memory,
            .plan_encode = plan_encode,
            .launch_encode = launch_encode};
  }
};

}  // namespace sluice::uniform
