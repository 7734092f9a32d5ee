// The loop from decoded symbols to elements: value = base + symbol * step, a step per row.
// Where in the flow: under element_sink.h, for blocks of symbols that are hot in the cache; plain
// pointers only, so that any kind of source can include it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/backend.h"
#include "codec/dtype.h"

namespace sluice::dequantise {

inline constexpr int kBlockColumns = 32;  // of a block as the entropy coder decodes it

// Neighbouring columns of a block whose elements lie side by side in each target row.
struct Block {
  const std::int16_t* symbols;  // [line][kBlockColumns], the first column that is meant
  std::int64_t lines;
  int columns;                 // 1 to kBlockColumns
  const std::uint16_t* order;  // which row each line is; null: line i is row i
  const float* steps;          // [row]
  const float* const* bases;   // [row] its columns' bases; null: all 0, and nothing is added
  std::ptrdiff_t base_column;  // where the first column stands in bases[row]
  std::byte* const* rows;      // [row] its target address
  std::ptrdiff_t offset;       // of the first column from there, in bytes
  Dtype dtype;
  bool streams;  // write around the caches; whole blocks of columns in 64-byte lines only
};

// A product, and a sum where there are bases, each rounded to fp32, the sum limited as codable()
// limits what encoders read; then once to the dtype, to nearest, ties to even.
using BlockKernel = void (*)(const Block& block);
[[nodiscard]] BlockKernel block_kernel(Backend backend);

void dequantise_block_scalar(const Block& block);
#if SLUICE_AVX2
void dequantise_block_avx2(const Block& block);
#endif

}  // namespace sluice::dequantise
