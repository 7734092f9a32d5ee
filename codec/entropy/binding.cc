#include "codec/entropy/binding.h"

#include <algorithm>

#include "base/assert.h"
#include "codec/bytes.h"
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

}  // namespace

EntropyStats PlaneEncoder::encode(const SymbolMatrix& matrix, const PlaneOptions& options) {
  SLUICE_ASSERT(static_cast<std::int64_t>(matrix.symbols.size()) == matrix.rows * matrix.columns,
                "a matrix with as many symbols as it says");
  EntropyStats stats;
  stats.elements = matrix.rows * matrix.columns;
  if (stats.elements == 0) return stats;
  SLUICE_ASSERT(fits(options, matrix.rows, matrix.columns),
                "shifts and profile tables of the matrix's size");
  const TileShape shape =
      tile_shape(matrix.rows, matrix.columns, options.model, options.column_unit);
  const auto areas = tile_areas(matrix.rows, matrix.columns, shape);
  const std::size_t begin = out_.bytes().size();
  out_.put(static_cast<std::uint8_t>(options.model));
  out_.put(std::uint8_t{0});
  out_.put(static_cast<std::uint16_t>(shape.columns));
  out_.put(static_cast<std::uint32_t>(shape.rows));
  const std::size_t lengths = out_.bytes().size();
  out_.put_zeros(areas.size() * sizeof(std::uint32_t));
  for (std::size_t tile = 0; tile < areas.size(); ++tile) {
    const std::size_t before = out_.bytes().size();
    stats.symbol_bytes += encode_tile(matrix, areas[tile], options, scratch_, out_);
    out_.put_over(lengths + tile * sizeof(std::uint32_t),
                  static_cast<std::uint32_t>(out_.bytes().size() - before));
  }
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

}  // namespace sluice::entropy
