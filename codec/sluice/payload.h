// What encoders and decoders of the codec `sluice` share on a section's bytes; spec.md, section 4.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/codec.h"
#include "codec/entropy/binding.h"
#include "codec/sluice/kernel.h"

namespace sluice::ladder {

// Flags of a layer.
inline constexpr std::uint8_t kHasRawToken = 1;  // the first token, element by element
inline constexpr std::uint8_t kHasOffsets = 2;   // a plane of channel offsets
inline constexpr std::uint8_t kHasClasses = 4;   // a plane of token classes
inline constexpr std::uint8_t kAllFlags = kHasRawToken | kHasOffsets | kHasClasses;

// A scale that an encoder can have written.
[[nodiscard]] inline bool is_valid_scale(float scale) {
  return std::isfinite(scale) && scale >= 1e-12F && scale <= 65504.0F;
}

// A token of class k has steps 2^(k/2) times as large: symbols 2 k places down the grid of scales,
// which has four per octave.
[[nodiscard]] std::vector<std::int8_t> row_shifts(std::span<const std::int8_t> classes,
                                                  bool has_classes);

// Of the planes of symbols and digits.
[[nodiscard]] entropy::PlaneOptions plane_options(std::int64_t column_unit,
                                                  std::span<const std::int8_t> shifts,
                                                  Backend backend);

// One token's heads; nothing where the table has no pairs.
void rotate_heads(const RotationTable& table, std::size_t row, std::int64_t dim,
                  std::span<float> channels, decltype(Kernels::rotate) rotate);

[[nodiscard]] Result<EncodedSection> encode_section(const SectionContext& context,
                                                    std::span<const SectionTensor> tensors);
[[nodiscard]] Status decode_section(const SectionContext& context,
                                    std::span<const std::byte> payload,
                                    std::span<const MutableSectionTensor> tensors);

}  // namespace sluice::ladder
