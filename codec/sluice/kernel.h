// The loops of the codec `sluice`, on rows of channels: pure, no allocation, no error.
// Where in the flow: under encode.cc and decode.cc; spec.md, sections 5 and 6, defines what they
// compute to the bit.
// Surprise: synthesis adds whole numbers modulo 2^32 and rounds floats in one order, so that no
// order of additions and no backend can show.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/backend.h"
#include "codec/dtype.h"
#include "codec/sluice/rotation.h"

namespace sluice::ladder {

// One block of a basis, as model profiles hold it.
struct BlockBasis {
  const std::int8_t* factors = nullptr;  // [coefficient, channel of the block]
  std::int64_t width = 0;                // of both
};

// A token's channels in their final form, from its accumulators: x = (step * scale) * accumulator +
// offset.
struct RowScale {
  float step = 1;                  // of the token
  const float* scales = nullptr;   // [channel]
  const float* offsets = nullptr;  // [channel]
};

// How one token's heads turn by its position.
struct Turn {
  const float* cosines = nullptr;  // [pair]
  const float* sines = nullptr;
  std::int64_t pairs = 0;  // of a head; 0: nothing turns
  Pairing pairing;
};

// Where one token of a tensor goes: heads of dims that lie side by side.
struct TokenTarget {
  Dtype dtype = Dtype::kFp16;
  std::int64_t heads = 0, dim = 0;
  std::byte* elements = nullptr;  // of the first head; any address
  std::int64_t head_bytes = 0;    // from one head to the next
};

struct Kernels {
  // sums[t, c] = sum over j of symbols[t, j] * basis[j, c], modulo 2^32. Rows of symbols and of
  // sums lie `stride` apart.
  void (*synthesise)(const std::int16_t* symbols, std::int64_t rows, std::int64_t stride,
                     const BlockBasis& basis, std::int32_t* sums);
  // All that stands between a token's whole numbers and its elements: scale, offset, rotation,
  // codable() and rounding to the dtype, each operation rounded.
  void (*finish_symbols)(const std::int16_t* symbols, const RowScale& row, const Turn& turn,
                         const TokenTarget& to);
  void (*finish_sums)(const std::int32_t* sums, const RowScale& row, const Turn& turn,
                      const TokenTarget& to);
  // Of each angle, as sine_cosine().
  void (*sines_of)(const double* angles, std::int64_t count, double* sines, double* cosines);
  // Turns one head's pairs forwards: (a c - b s, b c + a s), each product and sum rounded.
  void (*rotate)(const float* cosines, const float* sines, std::int64_t pairs,
                 const Pairing& pairing, float* head);
  // The same backwards: (a c + b s, b c - a s).
  void (*rotate_back)(const float* cosines, const float* sines, std::int64_t pairs,
                      const Pairing& pairing, float* head);
  // (values[c] - means[c]) * inverse_scales[c], in place.
  void (*normalise)(const float* means, const float* inverse_scales, std::int64_t channels,
                    float* values);
  // out[j] = sum over c, from first to last, of values[c] * inverse[c, j]; `width` of each.
  void (*analyse)(const float* values, const float* inverse, std::int64_t width, float* out);
  // Whole numbers nearest to (values[j] - offsets[j]) * factor, ties to even, within +-limit (a
  // whole number of at most 2^22); NaN gives 0.
  void (*quantise)(const float* values, const float* offsets, float factor, std::int64_t count,
                   float limit, std::int32_t* out);
};

[[nodiscard]] const Kernels& kernels_of(Backend backend);

extern const Kernels kScalarKernels;
#if SLUICE_AVX2
extern const Kernels kAvx2Kernels;
#endif

}  // namespace sluice::ladder
