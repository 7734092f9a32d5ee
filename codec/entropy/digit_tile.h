// One tile of a digit plane: column models and a rANS stream.
// Where in the flow: beside tile.h, under encode_digits() and decode_digits() of binding.h;
// spec.md, section 9.
#pragma once

#include "codec/entropy/tile.h"

namespace sluice::entropy {

// How the models of a tile's columns are coded: scales with a table of the class family (index of
// its scale; kind 0) around a base.
struct DigitFields {
  std::uint8_t scale_table = 0;
  std::int8_t scale_base = 0;
};

// Appends the tile's bytes, none if all digits are 0. `digits` is [row, column] of the plane, as
// `coarse`. Returns how many bytes are refill words of the digits.
[[nodiscard]] std::int64_t encode_digit_tile(const SymbolMatrix& coarse,
                                             std::span<const std::int8_t> digits,
                                             const TileArea& area, const PlaneOptions& options,
                                             EncodeScratch& scratch, ByteWriter& out);

// Refines the tile's symbols in `symbols` [row, column] of a plane of so many columns. `block` is
// room for the rows of a group. What is wrong, or null.
[[nodiscard]] const char* decode_digit_tile(std::span<const std::byte> bytes, const TileArea& area,
                                            const PlaneOptions& options, std::int64_t columns,
                                            std::span<std::int16_t> block,
                                            std::span<std::int16_t> symbols);

}  // namespace sluice::entropy
