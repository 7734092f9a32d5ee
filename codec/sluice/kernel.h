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
#include "codec/entropy/rules.h"
#include "codec/sluice/rotation.h"

namespace sluice::ladder {

// One block of a basis, as model profiles hold it.
struct BlockBasis {
  const std::int8_t* factors = nullptr;  // [coefficient, channel of the block]
  std::int64_t width = 0;                // of both
};

// Where the whole numbers of a head's lines lie, symbols or sums: pieces of kLanes dims, as the
// entropy decoder hands them over. Number c of line i is
//   first[i * line_stride + c / kLanes * piece_stride + c % kLanes].
template <typename Number>
struct HeadLines {
  const Number* first = nullptr;
  std::int64_t line_stride = 0, piece_stride = entropy::kLanes;
  std::int64_t lines = 0;
  const std::uint16_t* order = nullptr;  // which row each line is; null: in order
};

// How tokens turn by their positions.
struct Turn {
  const float* cosines = nullptr;  // [row, pair]
  const float* sines = nullptr;
  std::int64_t pairs = 0;  // 0: nothing turns
  Pairing pairing;
};

// What becomes of a head's whole numbers: x = (step * scale) * number + offset, turned, and where
// it goes.
struct HeadFinish {
  const float* steps = nullptr;    // [row]
  const float* scales = nullptr;   // [dim]
  const float* offsets = nullptr;  // [dim]
  Turn turn;
  Dtype dtype = Dtype::kFp16;
  std::int64_t dim = 0;
  std::byte* elements = nullptr;  // of row 0, dims side by side; any address
  std::int64_t row_bytes = 0;     // from one row to the next
  bool streams = false;           // around the caches; fills_whole_lines() (codec/streaming.h)

  // The same from another row on.
  [[nodiscard]] HeadFinish from(std::int64_t row) const {
    HeadFinish rest = *this;
    rest.steps += row;
    rest.turn.cosines += row * turn.pairs;
    rest.turn.sines += row * turn.pairs;
    rest.elements += row * row_bytes;
    return rest;
  }
};

inline constexpr float kSymbolMax = 32767.0F;

struct Kernels {
  // sums[t, c] = sum over j of symbols[t, j] * basis[j, c], modulo 2^32. Rows of symbols and of
  // sums lie `stride` apart.
  void (*synthesise)(const std::int16_t* symbols, std::int64_t rows, std::int64_t stride,
                     const BlockBasis& basis, std::int32_t* sums);
  // All that stands between whole numbers and elements: scale, offset, rotation, codable() and
  // rounding to the dtype, each operation rounded.
  void (*finish_symbols)(const HeadLines<std::int16_t>& symbols, const HeadFinish& head);
  void (*finish_sums)(const HeadLines<std::int32_t>& sums, const HeadFinish& head);
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
  // out[t, j] = sum over c, from first to last, of values[t, c] * inverse[c, j]; `width` of each.
  // Rows of values and of `out` lie `stride` apart.
  void (*analyse)(const float* values, std::int64_t rows, std::int64_t stride, const float* inverse,
                  std::int64_t width, float* out);
  // Adds values, and where there is room their squares, to sums in doubles.
  void (*add_moments)(const float* values, std::int64_t count, double* sums, double* squares);
  // The largest |values[j] - offsets[j]|; NaN counts as 0.
  float (*largest_distance)(const float* values, const float* offsets, std::int64_t count);
  // Whole numbers nearest to (values[j] - offsets[j]) * factor, ties to even, within +-32767; NaN
  // gives 0.
  void (*quantise)(const float* values, const float* offsets, float factor, std::int64_t count,
                   std::int16_t* out);
  // The nearest thirds of symbols within +-32767, so many times over. `out` may be `symbols`.
  void (*coarsen)(const std::int16_t* symbols, std::int64_t count, int times, std::int16_t* out);
};

[[nodiscard]] const Kernels& kernels_of(Backend backend);

extern const Kernels kScalarKernels;
#if SLUICE_AVX2
extern const Kernels kAvx2Kernels;
#endif

}  // namespace sluice::ladder
