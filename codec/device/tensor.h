// One tensor of a KV cache in a GPU's memory, contiguous or in the blocks of a serving engine.
// Where in the flow: device codecs read and write it; kernels get it by value inside their jobs.
// Surprise: one rule, offset(), covers every layout; engines differ in strides alone.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/host_device.h"
#include "codec/tensor_view.h"

namespace sluice {

struct DeviceTensor {
  TensorShape shape;
  std::byte* data_dev = nullptr;  // aligned to the element
  Strides strides;                // in elements, within a block where the tensor is paged

  // Paged, as vLLM and its kin hold caches: token t is row (first_slot + t) % tokens_per_block of
  // block block_table_dev[(first_slot + t) / tokens_per_block]. Null: contiguous.
  const std::int32_t* block_table_dev = nullptr;
  std::int64_t block_stride = 0;  // elements from one block to the next
  std::int64_t tokens_per_block = 0;
  std::int64_t first_slot = 0;  // where in the listed blocks this chunk's token 0 lies

  // Elements from data_dev to (head 0, token, dim 0). Counts fit 31 bits (check_tensors() in
  // plan.h): GPUs divide those several times faster than 64.
  [[nodiscard]] SLUICE_HOST_DEVICE std::int64_t token_offset(std::int64_t token) const {
    if (block_table_dev == nullptr) return token * strides.token;
    const auto slot = static_cast<std::uint32_t>(first_slot + token);
    const auto block_tokens = static_cast<std::uint32_t>(tokens_per_block);
    const std::int64_t block = block_table_dev[slot / block_tokens];
    return block * block_stride + slot % block_tokens * strides.token;
  }
  [[nodiscard]] SLUICE_HOST_DEVICE std::int64_t offset(std::int64_t head, std::int64_t token,
                                                       std::int64_t dim) const {
    return token_offset(token) + head * strides.head + dim * strides.dim;
  }
};

[[nodiscard]] inline DeviceTensor contiguous_tensor(const TensorShape& shape, std::byte* data_dev,
                                                    const Strides& strides) {
  DeviceTensor tensor;
  tensor.shape = shape;
  tensor.data_dev = data_dev;
  tensor.strides = strides;
  return tensor;
}

// Whether a block is [token, head, dim], or [head, token, dim] as FlashInfer's HND.
enum class BlockOrder : std::uint8_t { kTokenHeadDim, kHeadTokenDim };

// Blocks of `tokens_per_block` tokens, one after the other in memory.
[[nodiscard]] inline DeviceTensor paged_tensor(const TensorShape& shape, std::byte* blocks_dev,
                                               const std::int32_t* block_table_dev,
                                               std::int64_t tokens_per_block, BlockOrder order) {
  TensorShape block = shape;
  block.tokens = tokens_per_block;
  DeviceTensor tensor = contiguous_tensor(
      shape, blocks_dev,
      order == BlockOrder::kTokenHeadDim ? token_major(block) : head_major(block));
  tensor.block_table_dev = block_table_dev;
  tensor.block_stride = block.elements();
  tensor.tokens_per_block = tokens_per_block;
  return tensor;
}

// Eight neighbouring dims of the tensor lie in 16 aligned bytes (fp32: in two such pieces),
// wherever the first is a multiple of eight: what vector loads and stores need.
[[nodiscard]] bool lies_in_eights(const DeviceTensor& tensor);

}  // namespace sluice
