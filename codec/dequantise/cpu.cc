#include <cstring>

#include "codec/codable.h"
#include "codec/dequantise/kernel.h"
#include "codec/float16.h"

namespace sluice::dequantise {
namespace {

template <Dtype dtype>
void put(std::byte* to, float value) {
  if constexpr (dtype == Dtype::kFp32) {
    std::memcpy(to, &value, sizeof value);
  } else {
    const std::uint16_t bits = dtype == Dtype::kFp16 ? fp32_to_fp16(value) : fp32_to_bf16(value);
    std::memcpy(to, &bits, sizeof bits);
  }
}

template <Dtype dtype>
void put_block(const Block& block) {
  for (std::int64_t line = 0; line < block.lines; ++line) {
    const std::int64_t row = block.order == nullptr ? line : block.order[line];
    const std::int16_t* const symbols = block.symbols + line * kBlockColumns;
    std::byte* to = block.rows[row] + block.offset;
    for (int column = 0; column < block.columns; ++column, to += bytes_per_element(dtype)) {
      const float product = static_cast<float>(symbols[column]) * block.steps[row];
      put<dtype>(to, block.bases == nullptr
                         ? product
                         : codable(block.bases[row][block.base_column + column] + product));
    }
  }
}

}  // namespace

void dequantise_block_scalar(const Block& block) {
  switch (block.dtype) {
    case Dtype::kFp16:
      return put_block<Dtype::kFp16>(block);
    case Dtype::kBf16:
      return put_block<Dtype::kBf16>(block);
    case Dtype::kFp32:
      return put_block<Dtype::kFp32>(block);
  }
}

BlockKernel block_kernel(Backend backend) {
#if SLUICE_AVX2
  if (backend == Backend::kAvx2) return dequantise_block_avx2;
#endif
  (void)backend;
  return dequantise_block_scalar;
}

}  // namespace sluice::dequantise
