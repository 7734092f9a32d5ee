// The loops of transform: products of matrices for the encoder, whole-number synthesis for the
// decoder.
// Where in the flow: principal.cc and decode.cc call them. Pure, no allocation.
// Surprise: every sum of floats is taken in one order, every sum of whole numbers modulo 2^32, so
// that the backends agree to the bit.
#pragma once

#include <cstdint>

#include "codec/backend.h"

namespace sluice::transform {

struct Kernels {
  // c[i, k] = sum over j, from first to last, of a[i, j] * b[j, k]; fp32, each product and sum
  // rounded. Shapes [rows, inner], [inner, columns], [rows, columns].
  void (*multiply)(const float* a, const float* b, std::int64_t rows, std::int64_t inner,
                   std::int64_t columns, float* c);
  // sums[t, c] = sum over i of symbols[t, 2 i] * basis[i, c, 0] + symbols[t, 2 i + 1] * basis[i, c,
  // 1], modulo 2^32. Shapes [tokens, 2 * pairs], [pairs, channels, 2], [tokens, channels].
  void (*synthesise)(const std::int16_t* symbols, const std::int16_t* basis, std::int64_t tokens,
                     std::int64_t pairs, std::int64_t channels, std::int32_t* sums);
};

[[nodiscard]] const Kernels& kernels_of(Backend backend);

extern const Kernels kScalarKernels;
#if SLUICE_AVX2
extern const Kernels kAvx2Kernels;
#endif

}  // namespace sluice::transform
