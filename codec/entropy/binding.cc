#include "codec/entropy/binding.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "codec/bytes.h"
#include "codec/entropy/digit_tile.h"
#include "codec/entropy/plane.h"
#include "codec/entropy/tile.h"

namespace sluice::entropy {
namespace {

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
    std::int16_t* const corner = symbols_.data() + block.row * columns_ + block.column;
    for (std::int64_t line = 0; line < block.rows; ++line) {
      const std::int64_t row = block.order == nullptr ? line : block.order[line];
      const std::int16_t* const from = block.symbols + line * kLanes;
      if (block.columns == kLanes) {
        std::memcpy(corner + row * columns_, from, kLanes * sizeof *from);  // of a known size
      } else {
        std::copy_n(from, block.columns, corner + row * columns_);
      }
    }
  }

 private:
  std::int64_t columns_;
  std::span<std::int16_t> symbols_;
};

// Each tile's symbols to a sink.
class TileDecoder final : public TileVisitor {
 public:
  TileDecoder(const PlaneOptions& options, BlockSink& sink) : options_(options), sink_(sink) {}
  const char* visit(const PlaneTile& tile) override {
    block_.resize(std::max(block_.size(), static_cast<std::size_t>(tile.area.rows * kLanes)));
    return decode_tile(tile.bytes, tile.area, tile.model, options_, block_, sink_);
  }

 private:
  const PlaneOptions& options_;
  BlockSink& sink_;
  std::vector<std::int16_t> block_;
};

// The same for digits.
class DigitTileDecoder final : public TileVisitor {
 public:
  DigitTileDecoder(const PlaneOptions& options, std::int64_t columns,
                   std::span<std::int16_t> symbols)
      : options_(options), columns_(columns), symbols_(symbols) {}
  const char* visit(const PlaneTile& tile) override {
    block_.resize(std::max(block_.size(), static_cast<std::size_t>(tile.area.rows * kLanes)));
    return decode_digit_tile(tile.bytes, tile.area, options_, columns_, block_, symbols_);
  }

 private:
  const PlaneOptions& options_;
  std::int64_t columns_;
  std::span<std::int16_t> symbols_;
  std::vector<std::int16_t> block_;
};

void check_matrix(const SymbolMatrix& matrix, const PlaneOptions& options) {
  SLUICE_ASSERT(static_cast<std::int64_t>(matrix.symbols.size()) == matrix.rows * matrix.columns,
                "a matrix with as many symbols as it says");
  SLUICE_ASSERT(matrix.rows * matrix.columns == 0 || fits(options, matrix.rows, matrix.columns),
                "shifts and profile tables of the matrix's size");
}

TileShape shape_of(const SymbolMatrix& matrix, const PlaneOptions& options) {
  if (options.model == PlaneModel::kPeaked) {
    return tall_tile_shape(matrix.rows, matrix.columns, kMaxTallPlaces);
  }
  if (options.model == PlaneModel::kClassFamily && options.prefers_tall_tiles) {
    return tall_tile_shape(matrix.rows, matrix.columns, kMaxTilePlaces);
  }
  return tile_shape(matrix.rows, matrix.columns, options.model, options.column_unit);
}

// A plane's header, its tiles' lengths, and the tiles, each by encode(area), which says how many of
// its bytes are refill words. Returns how many are in all.
template <typename Encode>
std::int64_t put_tiles(const SymbolMatrix& matrix, const TileShape& shape, PlaneModel model,
                       ByteWriter& out, Encode encode) {
  const auto areas = tile_areas(matrix.rows, matrix.columns, shape);
  out.put(static_cast<std::uint8_t>(model));
  out.put(std::uint8_t{0});
  out.put(static_cast<std::uint16_t>(shape.columns));
  out.put(static_cast<std::uint32_t>(shape.rows));
  const std::size_t lengths = out.bytes().size();
  out.put_zeros(areas.size() * sizeof(std::uint32_t));
  std::int64_t word_bytes = 0;
  for (std::size_t tile = 0; tile < areas.size(); ++tile) {
    const std::size_t before = out.bytes().size();
    word_bytes += encode(areas[tile]);
    out.put_over(lengths + tile * sizeof(std::uint32_t),
                 static_cast<std::uint32_t>(out.bytes().size() - before));
  }
  return word_bytes;
}

}  // namespace

EntropyStats PlaneEncoder::encode(const SymbolMatrix& matrix, const PlaneOptions& options) {
  SLUICE_ASSERT(options.model != PlaneModel::kDigits, "symbols; encode_digits() codes digits");
  check_matrix(matrix, options);
  EntropyStats stats;
  stats.elements = matrix.rows * matrix.columns;
  if (stats.elements == 0) return stats;
  const TileShape shape = shape_of(matrix, options);
  const std::size_t begin = out_.bytes().size();
  stats.symbol_bytes = put_tiles(matrix, shape, options.model, out_, [&](const TileArea& area) {
    return encode_tile(matrix, area, options, scratch_, out_);
  });
  const std::size_t size = out_.bytes().size() - begin;
  out_.put_zeros(padded_size(size, stats.elements) - size);
  stats.coded_bytes = static_cast<std::int64_t>(out_.bytes().size() - begin);
  return stats;
}

EncodedPlane encode_plane(const SymbolMatrix& matrix, const PlaneOptions& options) {
  ByteWriter out;
  EncodedPlane plane;
  plane.stats = PlaneEncoder(out).encode(matrix, options);
  plane.bytes = std::move(out).take();
  return plane;
}

Result<std::size_t> decode_plane(std::span<const std::byte> bytes, std::int64_t rows,
                                 std::int64_t columns, const PlaneOptions& options,
                                 BlockSink& sink) {
  SLUICE_ASSERT(rows * columns == 0 || fits(options, rows, columns),
                "shifts and profile tables of the plane's size");
  TileDecoder decoder(options, sink);
  return walk_plane(bytes, rows, columns, options.profile != nullptr, decoder);
}

Result<std::size_t> decode_plane(std::span<const std::byte> bytes, std::int64_t rows,
                                 std::int64_t columns, const PlaneOptions& options,
                                 std::span<std::int16_t> symbols) {
  SLUICE_ASSERT(static_cast<std::int64_t>(symbols.size()) == rows * columns,
                "room for as many symbols as the plane has");
  MatrixSink sink(columns, symbols);
  return decode_plane(bytes, rows, columns, options, sink);
}

EncodedPlane encode_digits(const SymbolMatrix& coarse, std::span<const std::int8_t> digits,
                           const PlaneOptions& options) {
  check_matrix(coarse, options);
  SLUICE_ASSERT(digits.size() == coarse.symbols.size(), "a digit per symbol");
  EncodedPlane plane;
  plane.stats.elements = coarse.rows * coarse.columns;
  if (plane.stats.elements == 0) return plane;
  ByteWriter out;
  EncodeScratch scratch;
  const TileShape shape = tall_tile_shape(coarse.rows, coarse.columns, kMaxTallPlaces);
  plane.stats.symbol_bytes =
      put_tiles(coarse, shape, PlaneModel::kDigits, out, [&](const TileArea& area) {
        return encode_digit_tile(coarse, digits, area, options, scratch, out);
      });
  plane.bytes = std::move(out).take();
  plane.stats.coded_bytes = static_cast<std::int64_t>(plane.bytes.size());
  return plane;
}

Result<std::size_t> decode_digits(std::span<const std::byte> bytes, std::int64_t rows,
                                  std::int64_t columns, const PlaneOptions& options,
                                  std::span<std::int16_t> symbols) {
  SLUICE_ASSERT(static_cast<std::int64_t>(symbols.size()) == rows * columns,
                "as many symbols as the plane has digits");
  SLUICE_ASSERT(rows * columns == 0 || fits(options, rows, columns), "a shift per row");
  DigitTileDecoder decoder(options, columns, symbols);
  return walk_digit_plane(bytes, rows, columns, decoder);
}

}  // namespace sluice::entropy
