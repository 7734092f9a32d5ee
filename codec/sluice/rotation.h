// The rotation of keys by their positions, undone and done again with one table.
// Where in the flow: encoders undo it before anything else, decoders do it last; a CUDA decoder
// gets the same table. Surprise: sines come from additions and multiplications of doubles alone, so
// that every host, and every libm, has the same table to the bit. spec.md, section 6.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "codec/codec.h"

namespace sluice::ladder {

// Which two channels of a head one angle turns: (first + i * step, that + distance).
struct Pairing {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t distance = 1;
  bool operator==(const Pairing&) const = default;
};

// Cosines and sines of every token and pair, times a gain.
struct RotationTable {
  Pairing pairing;
  std::int64_t pairs = 0;
  std::vector<float> cosines, sines;  // [token, pair]
};

// What rotates a tensor's channels; null where nothing does, or it is not known how: other kinds
// than keys and latents, no RoPE facts, an unknown pairing, a dim that the pairs do not fit in.
[[nodiscard]] bool is_rotated(const SectionContext& context, TensorKind kind, const RopeFacts* rope,
                              std::int64_t dim);

// For tokens at these positions; `is_undone`: for encoders, with the inverse of the attention
// factor. Encoders turn by the negative angle: see turn_back().
[[nodiscard]] RotationTable rotation_table(const RopeFacts& rope,
                                           std::span<const std::int64_t> positions, bool is_undone);

// Sine and cosine of any angle below 2^30, in doubles, without libm.
struct SineCosine {
  double sine = 0, cosine = 1;
};
[[nodiscard]] SineCosine sine_cosine(double angle);

}  // namespace sluice::ladder
