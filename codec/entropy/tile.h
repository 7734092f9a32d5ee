// One tile: column models and a rANS stream.
// Where in the flow: binding.cc cuts planes into tiles and calls this; plane.h and the plans of
// CUDA codecs share its limits and the row order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/bytes.h"
#include "codec/entropy/binding.h"
#include "codec/entropy/kernel.h"

namespace sluice::entropy {

// A tile codes rows * kLanes symbols per group of up to 32 columns: at most so many in all, so that
// places are 16 bits. With shipped tables only the rows are bounded.
inline constexpr std::int64_t kMaxTilePlaces = 65536;
inline constexpr std::int64_t kMaxShippedRows = 32768;
// Of tiles that name no places: digits and the peaked family.
inline constexpr std::int64_t kMaxTallPlaces = 1 << 20;

[[nodiscard]] constexpr std::int64_t groups_of(std::int64_t columns) {
  return (columns + kLanes - 1) / kLanes;
}
[[nodiscard]] constexpr int lanes_of(std::int64_t columns, std::int64_t group) {
  return static_cast<int>(columns - group * kLanes < kLanes ? columns - group * kLanes : kLanes);
}

// Rows that are coded together because they have the same shift of the scale.
struct Run {
  std::int64_t begin = 0, end = 0;  // in coding order
  std::int32_t shift = 0;
};

// The order in which a tile's rows are coded: by their shift, smallest first, equal ones as they
// are.
struct RowOrder {
  std::vector<std::uint16_t> rows;  // of the tile, in coding order; empty: as they are
  std::vector<Run> runs;
};
// `shifts` is empty (all 0), or holds one per row.
[[nodiscard]] RowOrder order_rows(std::int64_t rows, std::span<const std::int8_t> shifts);

struct TileArea {
  std::int64_t row = 0, rows = 0, column = 0, columns = 0;  // in the plane
};
// Of a tile, from the shifts of its plane's rows.
[[nodiscard]] RowOrder order_rows(const TileArea& area,
                                  std::span<const std::int8_t> shifts_of_plane);

// A decoded group of a tile; `symbols` is in coding order.
[[nodiscard]] inline SymbolBlock block_of(const TileArea& area, std::int64_t group,
                                          const std::int16_t* symbols, const RowOrder& order) {
  return {.row = area.row,
          .rows = area.rows,
          .column = area.column + group * kLanes,
          .columns = lanes_of(area.columns, group),
          .symbols = symbols,
          .order = order.rows.empty() ? nullptr : order.rows.data()};
}

// Appends the tile's bytes. Returns how many of them are refill words of its symbols.
[[nodiscard]] std::int64_t encode_tile(const SymbolMatrix& matrix, const TileArea& area,
                                       const PlaneOptions& options, EncodeScratch& scratch,
                                       ByteWriter& out);

// `bytes` is exactly one tile; its symbols go to `sink`. `block` is room for the rows of a group.
// What is wrong, or null.
[[nodiscard]] const char* decode_tile(std::span<const std::byte> bytes, const TileArea& area,
                                      PlaneModel model, const PlaneOptions& options,
                                      std::span<std::int16_t> block, BlockSink& sink);

}  // namespace sluice::entropy
