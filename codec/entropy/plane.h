// How a plane lies in bytes: its header, and which tile is where.
// Where in the flow: under binding.h, which decodes each tile at once, and under the plans of CUDA
// decoders, which list them for warps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "codec/entropy/tile.h"

namespace sluice::entropy {

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t n, std::int64_t d) {
  return (n + d - 1) / d;
}

struct TileShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

// How an encoder cuts a plane; `column_unit` as in PlaneOptions.
[[nodiscard]] TileShape tile_shape(std::int64_t rows, std::int64_t columns, PlaneModel model,
                                   std::int64_t column_unit);

// Tiles of all rows up to kTallRows, and of as many whole groups of columns as have at most
// `most_places` places with them.
inline constexpr std::int64_t kTallRows = 2048;
[[nodiscard]] TileShape tall_tile_shape(std::int64_t rows, std::int64_t columns,
                                        std::int64_t most_places);

// In the order of their bytes: from left to right, then down.
[[nodiscard]] std::vector<TileArea> tile_areas(std::int64_t rows, std::int64_t columns,
                                               const TileShape& shape);

// `size` bytes of a plane of so many elements, padded.
[[nodiscard]] std::size_t padded_size(std::size_t size, std::int64_t elements);

// One tile of a plane being read.
struct PlaneTile {
  PlaneModel model = PlaneModel::kClassFamily;
  TileArea area;
  std::span<const std::byte> bytes;
  std::size_t offset = 0;  // of `bytes` from the start of the plane
};

class TileVisitor {
 public:
  virtual ~TileVisitor() = default;
  // What is wrong with the tile, or null.
  virtual const char* visit(const PlaneTile& tile) = 0;
};

// Visits the tiles of the plane at the start of `bytes` and returns how many bytes it took. Any
// bytes are safe: an Error comes after the tiles in front of it were visited.
[[nodiscard]] Result<std::size_t> walk_plane(std::span<const std::byte> bytes, std::int64_t rows,
                                             std::int64_t columns, bool has_profile,
                                             TileVisitor& visitor);

// The same of a plane of digits, which is not padded.
[[nodiscard]] Result<std::size_t> walk_digit_plane(std::span<const std::byte> bytes,
                                                   std::int64_t rows, std::int64_t columns,
                                                   TileVisitor& visitor);

// What a decoder says of a plane or a tile that no encoder writes.
[[nodiscard]] Error bad_plane(const char* what);

}  // namespace sluice::entropy
