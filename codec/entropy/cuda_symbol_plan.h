// Tiles that become matrices of symbols in device memory, bases and their digits: what a warp needs
// to know of each, and the host's lists of them. Where in the flow: a codec's plan walks its planes
// with a SymbolTileLister and copies the lists to the device; the kernels of cuda_symbols.h read
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "codec/entropy/plane.h"

namespace sluice::entropy {

// Rows of a tile that share a shift, in coding order.
struct DeviceRun {
  std::uint32_t begin = 0, end = 0;
  std::int32_t shift = 0;
};

// One tile: a warp's work.
struct SymbolTile {
  std::uint64_t at = 0;         // byte of the payload
  std::uint64_t models_at = 0;  // its column models, counted from the start of their memory
  std::uint32_t bytes = 0;
  std::uint32_t matrix = 0;  // number of the SymbolMatrixOnDevice
  std::uint32_t row = 0, rows = 0, column = 0, columns = 0;
  std::uint32_t first_run = 0, num_runs = 0;  // in the list of runs
  std::uint32_t first_line = 0;  // in the list of rows: the tile's rows in coding order
  std::uint16_t model = 0;       // PlaneModel: kPeaked or kDigits
  std::uint16_t stage = 0;       // bases first, then each layer of digits: a launch per stage
};

// Where symbols go, [row, column].
struct SymbolMatrixOnDevice {
  std::int16_t* symbols_dev = nullptr;
  std::uint32_t columns = 0;
};

// Lists tiles with their runs. A plane of another model is refused: its row shifts have no kernel.
class SymbolTileLister final : public TileVisitor {
 public:
  // The tiles that come now belong to this matrix; their plane starts here in the payload. `shifts`
  // as PlaneOptions::row_shifts; of equal planes the same span.
  void begin_plane(std::uint32_t matrix, std::size_t at, std::uint16_t stage,
                   std::span<const std::int8_t> shifts);
  const char* visit(const PlaneTile& tile) override;

  [[nodiscard]] std::size_t num_tiles() const { return tiles_.size(); }
  // Memory of column models, in int16.
  [[nodiscard]] std::size_t num_models() const { return num_models_; }

  // The lists side by side, as SymbolLists finds them: so many bytes, a multiple of 16.
  [[nodiscard]] std::size_t list_bytes() const;
  void write_lists(std::byte* to) const;
  [[nodiscard]] std::size_t runs_at() const;  // from the start of the lists; tiles are at 0
  [[nodiscard]] std::size_t lines_at() const;

 private:
  // Rows in coding order, of a tile and its neighbours.
  struct Order {
    std::uint32_t first_run = 0, num_runs = 0, first_line = 0;
  };
  // Shifts, first row, rows: tiles side by side share an order, and so do planes of equal shifts.
  using OrderKey = std::tuple<const std::int8_t*, std::int64_t, std::int64_t>;

  Order add_order(const TileArea& area);

  std::uint32_t matrix_ = 0;
  std::size_t at_ = 0;
  std::uint16_t stage_ = 0;
  std::span<const std::int8_t> shifts_;
  std::size_t num_models_ = 0;
  std::vector<SymbolTile> tiles_;
  std::vector<DeviceRun> runs_;
  std::vector<std::uint16_t> lines_;
  std::map<OrderKey, Order> orders_;
};

// The lists of a SymbolTileLister on the device.
struct SymbolLists {
  const SymbolTile* tiles = nullptr;
  const DeviceRun* runs = nullptr;
  const std::uint16_t* lines = nullptr;
  const SymbolMatrixOnDevice* matrices = nullptr;
};
// `lists_dev`: where write_lists() lies on the device.
[[nodiscard]] inline SymbolLists symbol_lists(const SymbolTileLister& tiles,
                                              const std::byte* lists_dev,
                                              const SymbolMatrixOnDevice* matrices_dev) {
  return {reinterpret_cast<const SymbolTile*>(lists_dev),
          reinterpret_cast<const DeviceRun*>(lists_dev + tiles.runs_at()),
          reinterpret_cast<const std::uint16_t*>(lists_dev + tiles.lines_at()), matrices_dev};
}

}  // namespace sluice::entropy
