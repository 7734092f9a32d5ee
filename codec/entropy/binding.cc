#include "codec/entropy/binding.h"

#include <algorithm>

#include "base/assert.h"
#include "base/units.h"
#include "codec/bytes.h"
#include "codec/entropy/tile.h"

namespace sluice::entropy {
namespace {

// Big enough that 32 lane states weigh little, small enough for thousands of tiles per context.
constexpr std::int64_t kTileColumns = 192;
constexpr std::int64_t kTileSymbols = kTileColumns * 256;

std::int64_t ceil_div(std::int64_t n, std::int64_t d) {
  return (n + d - 1) / d;
}

struct TileShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

TileShape tile_shape(const SymbolMatrix& matrix, const PlaneOptions& options) {
  const std::int64_t unit = std::clamp<std::int64_t>(options.column_unit, 1, 2 * kTileColumns);
  const std::int64_t columns = std::min(matrix.columns, std::max(unit, kTileColumns / unit * unit));
  if (options.model == PlaneModel::kShipped)
    return {std::min(matrix.rows, kMaxShippedRows), columns};
  const std::int64_t tiles = std::max<std::int64_t>(
      1, (2 * matrix.rows * columns + kTileSymbols) / (2 * kTileSymbols));  // nearest
  return {std::min(ceil_div(matrix.rows, tiles), kMaxTileSymbols / columns), columns};
}

// Calls `visit(tile)` with first row, rows, first column, columns of each tile, in stream order.
struct TileRange {
  std::int64_t row, rows, column, columns;
};
std::vector<TileRange> tile_ranges(std::int64_t rows, std::int64_t columns,
                                   const TileShape& shape) {
  std::vector<TileRange> ranges;
  for (std::int64_t row = 0; row < rows; row += shape.rows) {
    for (std::int64_t column = 0; column < columns; column += shape.columns) {
      ranges.push_back({row, std::min(shape.rows, rows - row), column,
                        std::min(shape.columns, columns - column)});
    }
  }
  return ranges;
}

std::vector<std::int16_t> cut_out(const SymbolMatrix& matrix, const TileRange& range) {
  std::vector<std::int16_t> symbols;
  symbols.reserve(static_cast<std::size_t>(range.rows * range.columns));
  for (std::int64_t row = range.row; row < range.row + range.rows; ++row) {
    const auto line =
        matrix.symbols.subspan(static_cast<std::size_t>(row * matrix.columns + range.column),
                               static_cast<std::size_t>(range.columns));
    symbols.insert(symbols.end(), line.begin(), line.end());
  }
  return symbols;
}

std::size_t padded_size(std::size_t size, std::int64_t elements) {
  return std::max(size, static_cast<std::size_t>(ceil_div(elements, kMaxElementsPerByte)));
}

Error bad_plane(const char* what) {
  return error_in("", what, "the file is damaged; encode the cache again");
}

struct PlaneHeader {
  PlaneModel model = PlaneModel::kClassFamily;
  TileShape shape;
};

Result<PlaneHeader> read_header(ByteReader& in, std::int64_t rows, std::int64_t columns) {
  const auto model = in.get<std::uint8_t>();
  const auto flags = in.get<std::uint8_t>();
  PlaneHeader header;
  header.shape.columns = in.get<std::uint16_t>();
  header.shape.rows = in.get<std::uint32_t>();
  if (!in.ok()) return bad_plane("a plane that ends in its header");
  if (model > static_cast<std::uint8_t>(PlaneModel::kShipped) || flags != 0) {
    return error_in("", "a plane with a probability model this version does not know",
                    "decode it with the version that wrote it");
  }
  header.model = static_cast<PlaneModel>(model);
  const bool is_class = header.model == PlaneModel::kClassFamily;
  const auto& shape = header.shape;
  if (shape.rows < 1 || shape.rows > rows || shape.columns < 1 || shape.columns > columns ||
      (is_class ? shape.rows * shape.columns > kMaxTileSymbols : shape.rows > kMaxShippedRows)) {
    return bad_plane("a plane with an impossible tile size");
  }
  return header;
}

void paste(const std::vector<std::int16_t>& tile, const TileRange& range, std::int64_t columns,
           std::span<std::int16_t> symbols) {
  for (std::int64_t row = 0; row < range.rows; ++row) {
    std::copy_n(tile.begin() + row * range.columns, range.columns,
                symbols.begin() + (range.row + row) * columns + range.column);
  }
}

}  // namespace

EncodedPlane encode_plane(const SymbolMatrix& matrix, const PlaneOptions& options) {
  SLUICE_ASSERT(static_cast<std::int64_t>(matrix.symbols.size()) == matrix.rows * matrix.columns,
                "a matrix with as many symbols as it says");
  EncodedPlane plane;
  plane.stats.elements = matrix.rows * matrix.columns;
  if (plane.stats.elements == 0) return plane;
  const TileShape shape = tile_shape(matrix, options);
  const auto ranges = tile_ranges(matrix.rows, matrix.columns, shape);
  ByteWriter tiles;
  std::vector<std::uint32_t> tile_bytes;
  TileCost cost;
  for (const TileRange& range : ranges) {
    const std::vector<std::int16_t> symbols = cut_out(matrix, range);
    const std::size_t before = tiles.bytes().size();
    const TileCost one = encode_tile({range.rows, range.columns, symbols}, options.model, tiles);
    cost.ideal_bits += one.ideal_bits;
    cost.side_bits += one.side_bits;
    tile_bytes.push_back(static_cast<std::uint32_t>(tiles.bytes().size() - before));
  }
  ByteWriter out;
  out.put(static_cast<std::uint8_t>(options.model));
  out.put(std::uint8_t{0});
  out.put(static_cast<std::uint16_t>(shape.columns));
  out.put(static_cast<std::uint32_t>(shape.rows));
  for (const std::uint32_t bytes : tile_bytes) out.put(bytes);
  const auto header = static_cast<std::int64_t>(out.bytes().size());
  out.put_bytes(tiles.bytes());
  const std::size_t size = out.bytes().size();
  plane.bytes = std::move(out).take();
  plane.bytes.resize(padded_size(size, plane.stats.elements));
  const auto padding = static_cast<std::int64_t>(plane.bytes.size() - size);
  plane.stats.coded_bytes = static_cast<std::int64_t>(plane.bytes.size());
  plane.stats.side_bits =
      cost.side_bits + static_cast<double>(DataSize::bytes(header + padding).bits());
  plane.stats.ideal_bits = cost.ideal_bits;
  return plane;
}

Result<std::size_t> decode_plane(std::span<const std::byte> bytes, std::int64_t rows,
                                 std::int64_t columns, std::span<std::int16_t> symbols) {
  SLUICE_ASSERT(static_cast<std::int64_t>(symbols.size()) == rows * columns,
                "room for as many symbols as the plane has");
  if (symbols.empty()) return std::size_t{0};
  ByteReader in(bytes);
  const auto header = read_header(in, rows, columns);
  if (!header) return header.error();
  const TileShape& shape = header->shape;
  const std::int64_t num_tiles = ceil_div(rows, shape.rows) * ceil_div(columns, shape.columns);
  if (static_cast<std::int64_t>(in.left() / sizeof(std::uint32_t)) < num_tiles) {
    return bad_plane("a plane that ends in its list of tiles");
  }
  ByteReader lengths(in.get_bytes(static_cast<std::size_t>(num_tiles) * sizeof(std::uint32_t)));
  std::vector<std::int16_t> tile;
  for (const TileRange& range : tile_ranges(rows, columns, shape)) {
    const auto tile_bytes = in.get_bytes(lengths.get<std::uint32_t>());
    if (!in.ok()) return bad_plane("a plane that ends in a tile");
    tile.resize(static_cast<std::size_t>(range.rows * range.columns));
    const char* const wrong =
        decode_tile(tile_bytes, header->model, range.rows, range.columns, tile);
    if (wrong != nullptr) return bad_plane(wrong);
    paste(tile, range, columns, symbols);
  }
  const std::size_t size = bytes.size() - in.left();
  const auto padding = in.get_bytes(padded_size(size, rows * columns) - size);
  if (!in.ok()) return bad_plane("a plane that ends in its padding");
  if (std::any_of(padding.begin(), padding.end(), [](std::byte b) { return b != std::byte{0}; })) {
    return bad_plane("a plane whose padding is not zero");
  }
  return size + padding.size();
}

}  // namespace sluice::entropy
