// The counting and searching functions of kernel.h's Kernels with AVX2; called only through
// avx2.cc's table.
#pragma once

#include <cstdint>

#include "codec/entropy/kernel.h"

namespace sluice::entropy::avx2 {

void find_extents(const std::int16_t* symbols, std::int64_t rows, std::int16_t (&low)[kLanes],
                  std::int16_t (&high)[kLanes]);
void count(const std::int16_t* symbols, std::int64_t rows, const std::int16_t (&low)[kLanes],
           int span, std::int16_t (*counts)[kCostWindow]);
std::int64_t find_escape(const std::int16_t* symbols, std::int64_t row, std::int64_t rows,
                         const EscapeLanes& lanes);
std::int32_t weigh(const std::int16_t* counts, const std::int16_t* costs, int span);

}  // namespace sluice::entropy::avx2
