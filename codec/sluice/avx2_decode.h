// What decoders do with AVX2: see Kernels.
// Where in the flow: avx2.cc lists them; avx2_synthesis.cc and avx2_finish.cc define them.
#pragma once

#include "codec/sluice/kernel.h"

namespace sluice::ladder::avx2 {

void synthesise(const std::int16_t* symbols, std::int64_t rows, std::int64_t stride,
                const BlockBasis& basis, std::int32_t* sums);
void finish_symbols(const HeadLines<std::int16_t>& symbols, const HeadFinish& head);
void finish_sums(const HeadLines<std::int32_t>& sums, const HeadFinish& head);
void sines_of(const double* angles, std::int64_t count, double* sines, double* cosines);

}  // namespace sluice::ladder::avx2
