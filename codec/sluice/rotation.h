// The rotation of keys by their positions, undone and done again with one table.
// Where in the flow: encoders undo it before anything else, decoders do it last; a CUDA decoder
// gets the same table. Surprise: sines come from additions and multiplications of doubles alone, so
// that every host, and every libm, has the same table to the bit. spec.md, section 6.
#pragma once

#include <cstdint>
#include <memory>
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

// Whether a tensor's channels are rotated in a way that is known: not those of other kinds than
// keys and latents, without RoPE facts, of an unknown pairing or of a dim that the pairs do not fit
// in.
[[nodiscard]] bool is_rotated(const SectionContext& context, TensorKind kind, const RopeFacts* rope,
                              std::int64_t dim);

// For tokens at these positions; `is_undone`: for encoders, with the inverse of the attention
// factor. Encoders turn by the negative angle.
[[nodiscard]] RotationTable rotation_table(const RopeFacts& rope,
                                           std::span<const std::int64_t> positions, bool is_undone,
                                           Backend backend = best_backend());

// Tables that units of a section share: most have one RoPE and one list of positions. Layers of a
// sliding window take turns with full ones, so it remembers two.
class RotationTables {
 public:
  explicit RotationTables(bool is_undone) : is_undone_(is_undone) {}
  [[nodiscard]] std::shared_ptr<const RotationTable> of(const RopeFacts& rope,
                                                        std::span<const std::int64_t> positions,
                                                        Backend backend);

 private:
  struct Known {
    RopeFacts rope;
    std::vector<std::int64_t> positions;
    std::shared_ptr<const RotationTable> table;
  };
  bool is_undone_;
  std::vector<Known> known_;  // the last one first
};

// Sine and cosine of any angle below 2^30, in doubles, without libm.
struct SineCosine {
  double sine = 0, cosine = 1;
};
[[nodiscard]] SineCosine sine_cosine(double angle);

// What every backend's sines are made of.
struct SineCosineRule {
  static constexpr double kAngleMax = 1U << 30;  // no model turns further; a file may say so
  // pi / 2 in two parts, the first short enough for exact products with small whole numbers.
  static constexpr double kHalfPiHigh = 1.57079632673412561417;
  static constexpr double kHalfPiLow = 6.07710050650619224932e-11;
  static constexpr double kTwoOverPi = 0.636619772367581343076;
  // Taylor's series up to r^15 and r^16; |r| < 0.8.
  static constexpr int kSineTerms = 15, kCosineTerms = 16;
};

}  // namespace sluice::ladder
