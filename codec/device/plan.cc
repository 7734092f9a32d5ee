#include "codec/device/plan.h"

#include <fmt/format.h>

namespace sluice {
namespace {

Status check_part(std::span<const std::byte> part, std::size_t need, const char* name) {
  constexpr std::size_t kAlignment = 16;
  if (part.size() < need) {
    return error_in(
        "", fmt::format("{} memory of {} bytes where {} are needed", name, part.size(), need),
        "lend as much as the codec's *_memory() says");
  }
  if (need > 0 && reinterpret_cast<std::uintptr_t>(part.data()) % kAlignment != 0)
    return error_in("", fmt::format("{} memory is not on a 16-byte boundary", name), "align it");
  return {};
}

}  // namespace

Status check_memory(const LentMemory& memory, const MemoryNeed& need) {
  if (Status status = check_part(memory.pinned, need.pinned_bytes, "pinned"); !status)
    return status;
  if (Status status = check_part(memory.work_dev, need.work_bytes, "work"); !status) return status;
  return check_part(memory.payload_dev, need.payload_bytes, "payload");
}

Status check_tensors(std::span<const DeviceSectionTensor> tensors) {
  constexpr std::int64_t kCountMax = 0x7FFFFFFF;
  for (const DeviceSectionTensor& tensor : tensors) {
    const DeviceTensor& values = tensor.values;
    const auto width = static_cast<std::uintptr_t>(bytes_per_element(values.shape.dtype));
    if (values.shape.channels() > kCountMax ||
        values.first_slot + values.shape.tokens > kCountMax) {
      return error_in("",
                      fmt::format("layer {}: {} channels and {} tokens", tensor.layer,
                                  values.shape.channels(), values.shape.tokens),
                      "cut it into chunks: kernels count up to 2^31");
    }
    const bool is_paged_well = values.block_table_dev == nullptr ||
                               (values.tokens_per_block > 0 && values.first_slot >= 0);
    if (values.data_dev != nullptr && is_paged_well &&
        reinterpret_cast<std::uintptr_t>(values.data_dev) % width == 0) {
      continue;
    }
    return error_in("",
                    fmt::format("layer {}: its tensor is null, unaligned, or has blocks of {} "
                                "tokens from slot {}",
                                tensor.layer, values.tokens_per_block, values.first_slot),
                    "give device memory aligned to the element, and blocks of at least one token");
  }
  return {};
}

}  // namespace sluice
