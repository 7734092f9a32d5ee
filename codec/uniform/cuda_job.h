// One tensor of an int8 or int4 section as their kernels see it, and the host's plan of a section.
// Where in the flow: between codec/int8/cuda.cu, codec/int4/cuda.cu and cuda_kernels.h.
#pragma once

#include "codec/device/device_codec.h"
#include "codec/uniform/section.h"

namespace sluice::uniform {

struct TensorJob {
  DeviceTensor tensor;
  // SectionLayout, in the 32 bits that GPUs divide well.
  unsigned dim = 0, channels = 0, tokens = 0;
  unsigned group = 0, groups_per_token = 0, code_bytes_per_token = 0;
  unsigned tokens_per_unit = 1;
  unsigned channels_per_piece = 2;  // what a thread takes: 8 where all lies on 16 bytes, else 2
  unsigned lanes_per_group = 1;     // of a warp, when encoding: a power of two
  std::int64_t first_unit = 0;
  std::int64_t scales_at = 0, codes_at = 0;  // bytes from the start of the payload
};

// What a kernel can find in a payload: Fault::kind.
inline constexpr std::uint8_t kScaleFault = 1, kPaddingFault = 2;
[[nodiscard]] Error decode_error(const Fault& fault);

[[nodiscard]] MemoryNeed encode_memory(const Width& width, const SectionContext& context,
                                       std::span<const DeviceSectionTensor> tensors);
// Checks the payload's length as decode() does.
[[nodiscard]] Result<MemoryNeed> decode_memory(const Width& width, const SectionContext& context,
                                               std::span<const std::byte> payload,
                                               std::span<const DeviceSectionTensor> tensors);
// For both directions; decoding sets the payload.
[[nodiscard]] Result<DevicePlan> plan_section(const Width& width, const SectionContext& context,
                                              std::span<const DeviceSectionTensor> tensors,
                                              const LentMemory& memory, const LaunchTarget& target);

}  // namespace sluice::uniform
