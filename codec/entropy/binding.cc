#include "codec/entropy/binding.h"

#include <algorithm>

#include "base/assert.h"
#include "codec/bytes.h"
#include "codec/entropy/tile.h"

namespace sluice::entropy {
namespace {

// Big enough that 32 lane states weigh little, small enough for thousands of tiles per context.
constexpr std::int64_t kTileColumns = 256;
constexpr std::int64_t kTileRows = 256;

std::int64_t ceil_div(std::int64_t n, std::int64_t d) {
  return (n + d - 1) / d;
}

struct TileShape {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

TileShape tile_shape(const SymbolMatrix& matrix, const PlaneOptions& options) {
  const std::int64_t unit = std::clamp<std::int64_t>(options.column_unit, 1, kTileColumns);
  const std::int64_t columns = std::min(matrix.columns, kTileColumns / unit * unit);
  if (options.model == PlaneModel::kShipped) {
    return {std::min(matrix.rows, kMaxShippedRows), columns};
  }
  const std::int64_t most = kMaxTilePlaces / (groups_of(columns) * kLanes);
  // As many symbols in a tile of few columns as in one of many, as far as places allow.
  const std::int64_t wanted =
      std::min(most, std::max(kTileRows, kTileColumns * kTileRows / (groups_of(columns) * kLanes)));
  const std::int64_t tiles =
      std::max<std::int64_t>(1, (2 * matrix.rows + wanted) / (2 * wanted));  // nearest
  return {std::min(ceil_div(matrix.rows, tiles), most), columns};
}

std::vector<TileArea> tile_areas(std::int64_t rows, std::int64_t columns, const TileShape& shape) {
  std::vector<TileArea> areas;
  for (std::int64_t row = 0; row < rows; row += shape.rows) {
    for (std::int64_t column = 0; column < columns; column += shape.columns) {
      areas.push_back({row, std::min(shape.rows, rows - row), column,
                       std::min(shape.columns, columns - column)});
    }
  }
  return areas;
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
  if (model > static_cast<std::uint8_t>(PlaneModel::kProfile) || flags != 0) {
    return error_in("", "a plane with a probability model this version does not know",
                    "decode it with the version that wrote it");
  }
  header.model = static_cast<PlaneModel>(model);
  const bool is_shipped = header.model == PlaneModel::kShipped;
  const auto& shape = header.shape;
  if (shape.rows < 1 || shape.rows > rows || shape.columns < 1 || shape.columns > columns ||
      (is_shipped ? shape.rows > kMaxShippedRows
                  : shape.rows > kMaxTilePlaces / (groups_of(shape.columns) * kLanes))) {
    return bad_plane("a plane with an impossible tile size");
  }
  return header;
}

// What the caller says of rows and columns is said of all of them.
bool fits(const PlaneOptions& options, std::int64_t rows, std::int64_t columns) {
  const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  return (options.row_shifts.empty() || count(options.row_shifts) == rows) &&
         (options.profile == nullptr || (count(options.profile->table_of_column) == columns &&
                                         count(options.profile->centres) == columns));
}

// Blocks back into the matrix.
class MatrixSink final : public BlockSink {
 public:
  MatrixSink(std::int64_t columns, std::span<std::int16_t> symbols)
      : columns_(columns), symbols_(symbols) {}
  void take(const SymbolBlock& block) override {
    for (std::int64_t line = 0; line < block.rows; ++line) {
      const std::int64_t row = block.row + (block.order == nullptr ? line : block.order[line]);
      std::copy_n(block.symbols + line * kLanes, block.columns,
                  symbols_.data() + row * columns_ + block.column);
    }
  }

 private:
  std::int64_t columns_;
  std::span<std::int16_t> symbols_;
};

}  // namespace

EncodedPlane encode_plane(const SymbolMatrix& matrix, const PlaneOptions& options) {
  SLUICE_ASSERT(static_cast<std::int64_t>(matrix.symbols.size()) == matrix.rows * matrix.columns,
                "a matrix with as many symbols as it says");
  SLUICE_ASSERT(fits(options, matrix.rows, matrix.columns),
                "shifts and profile tables of the matrix's size");
  EncodedPlane plane;
  plane.stats.elements = matrix.rows * matrix.columns;
  if (plane.stats.elements == 0) return plane;
  const TileShape shape = tile_shape(matrix, options);
  ByteWriter tiles;
  EncodeScratch scratch;
  std::vector<std::uint32_t> tile_bytes;
  for (const TileArea& area : tile_areas(matrix.rows, matrix.columns, shape)) {
    const std::size_t before = tiles.bytes().size();
    plane.stats.symbol_bytes += encode_tile(matrix, area, options, scratch, tiles);
    tile_bytes.push_back(static_cast<std::uint32_t>(tiles.bytes().size() - before));
  }
  ByteWriter out;
  out.put(static_cast<std::uint8_t>(options.model));
  out.put(std::uint8_t{0});
  out.put(static_cast<std::uint16_t>(shape.columns));
  out.put(static_cast<std::uint32_t>(shape.rows));
  for (const std::uint32_t bytes : tile_bytes) out.put(bytes);
  out.put_bytes(tiles.bytes());
  plane.bytes = std::move(out).take();
  plane.bytes.resize(padded_size(plane.bytes.size(), plane.stats.elements));
  plane.stats.coded_bytes = static_cast<std::int64_t>(plane.bytes.size());
  return plane;
}

Result<std::size_t> decode_plane(std::span<const std::byte> bytes, std::int64_t rows,
                                 std::int64_t columns, const PlaneOptions& options,
                                 BlockSink& sink) {
  if (rows * columns == 0) return std::size_t{0};
  ByteReader in(bytes);
  const auto header = read_header(in, rows, columns);
  if (!header) return header.error();
  if (header->model == PlaneModel::kProfile && options.profile == nullptr) {
    return error_in("", "a plane whose tables are in a model profile, and none was given",
                    "name the profile that the cache was encoded with");
  }
  SLUICE_ASSERT(fits(options, rows, columns), "shifts and profile tables of the plane's size");
  const TileShape& shape = header->shape;
  const std::int64_t num_tiles = ceil_div(rows, shape.rows) * ceil_div(columns, shape.columns);
  if (static_cast<std::int64_t>(in.left() / sizeof(std::uint32_t)) < num_tiles) {
    return bad_plane("a plane that ends in its list of tiles");
  }
  ByteReader lengths(in.get_bytes(static_cast<std::size_t>(num_tiles) * sizeof(std::uint32_t)));
  std::vector<std::int16_t> block(static_cast<std::size_t>(shape.rows * kLanes));
  for (const TileArea& area : tile_areas(rows, columns, shape)) {
    const auto tile = in.get_bytes(lengths.get<std::uint32_t>());
    if (!in.ok()) return bad_plane("a plane that ends in a tile");
    const char* const wrong = decode_tile(tile, area, header->model, options, block, sink);
    if (wrong != nullptr) return bad_plane(wrong);
  }
  const std::size_t size = bytes.size() - in.left();
  const auto padding = in.get_bytes(padded_size(size, rows * columns) - size);
  if (!in.ok()) return bad_plane("a plane that ends in its padding");
  if (std::any_of(padding.begin(), padding.end(), [](std::byte b) { return b != std::byte{0}; })) {
    return bad_plane("a plane whose padding is not zero");
  }
  return size + padding.size();
}

Result<std::size_t> decode_plane(std::span<const std::byte> bytes, std::int64_t rows,
                                 std::int64_t columns, const PlaneOptions& options,
                                 std::span<std::int16_t> symbols) {
  SLUICE_ASSERT(static_cast<std::int64_t>(symbols.size()) == rows * columns,
                "room for as many symbols as the plane has");
  MatrixSink sink(columns, symbols);
  return decode_plane(bytes, rows, columns, options, sink);
}

}  // namespace sluice::entropy
