// The loops of the codec `sluice`, on rows of channels: pure, no allocation, no error.
// Where in the flow: under encode.cc and decode.cc; spec.md, sections 5 and 6, defines what they
// compute to the bit.
// Surprise: synthesis adds whole numbers modulo 2^32 and then rounds three times, so that no order
// of additions and no backend can show.
#pragma once

#include <cstdint>

#include "codec/backend.h"
#include "codec/sluice/rotation.h"

namespace sluice::ladder {

// One block of a basis, for synthesis: rows of two coefficients interleaved, as multiply-add
// instructions of pairs want them. [pair of coefficients][channel of the block][2]; an odd last
// coefficient is paired with zeros.
struct BlockBasis {
  const std::int16_t* pairs = nullptr;
  std::int64_t width = 0;
};

// A token's channels in their final form, from its accumulators: x = (step * scale) * accumulator +
// offset.
struct RowScale {
  float step = 1;                  // of the token
  const float* scales = nullptr;   // [channel]
  const float* offsets = nullptr;  // [channel]
};

struct Kernels {
  // sums[c] = sum over j of symbols[j] * basis[j, c], modulo 2^32. `width` of each.
  void (*synthesise)(const std::int16_t* symbols, const BlockBasis& basis, std::int32_t* sums);
  // values[c], rounded after each operation.
  void (*scale_symbols)(const std::int16_t* symbols, std::int64_t channels, const RowScale& row,
                        float* values);
  void (*scale_sums)(const std::int32_t* sums, std::int64_t channels, const RowScale& row,
                     float* values);
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
