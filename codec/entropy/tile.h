// One tile: a rANS stream with its column models. Used by binding.cc only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/bytes.h"
#include "codec/entropy/binding.h"
#include "codec/entropy/stats.h"

namespace sluice::entropy {

inline constexpr std::int64_t kMaxTileSymbols = 65536;  // of the class family: positions are u16
inline constexpr std::int64_t kMaxShippedRows = 32768;

// Appends the tile's bytes; adds its ideal and side bits to `ideal_bits` and `side_bits`.
struct TileCost {
  double ideal_bits = 0;
  double side_bits = 0;
};
[[nodiscard]] TileCost encode_tile(const SymbolMatrix& tile, PlaneModel model, ByteWriter& out);

// `bytes` is exactly one tile; `symbols` [row, column] is written. What is wrong, or null.
[[nodiscard]] const char* decode_tile(std::span<const std::byte> bytes, PlaneModel model,
                                      std::int64_t rows, std::int64_t columns,
                                      std::span<std::int16_t> symbols);

}  // namespace sluice::entropy
