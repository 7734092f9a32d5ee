// Tiles to matrices of symbols in device memory, one warp per tile: bases with row shifts, and the
// digits that refine them.
// Where in the flow: included by the .cu of a codec that transforms symbols afterwards; it launches
// stage 0 (bases), then a stage per layer of digits, then its own kernels. spec.md, sections 9
// and 10. Surprise: all lanes of a warp take every branch together; what differs by lane is data.
#pragma once

#include "codec/device/launch.h"
#include "codec/device/plan.h"
#include "codec/entropy/cuda_peaked_decode.h"
#include "codec/entropy/cuda_symbol_plan.h"

namespace sluice::entropy {

struct SymbolTables {
  const ClassTables* classes = nullptr;
  const PeakedTables* peaked = nullptr;
  const DigitTables* digits = nullptr;
};

// A tile's place in its matrix.
struct TileOfMatrix {
  const SymbolTile& tile;
  const SymbolLists& lists;

  // The symbol of a lane's column in the line-th row of coding order.
  __device__ std::int16_t& at(unsigned group, unsigned line) const {
    const SymbolMatrixOnDevice& matrix = lists.matrices[tile.matrix];
    const unsigned row = tile.row + lists.lines[tile.first_line + line];
    const unsigned column = tile.column + group * kLanes + lane_of_thread();
    return matrix.symbols_dev[static_cast<std::size_t>(row) * matrix.columns + column];
  }
  __device__ bool has_column(unsigned group) const {
    return group * kLanes + lane_of_thread() < tile.columns;
  }
};

// Of a tile of the peaked family, or an empty one.
__device__ inline TileFault decode_symbols(const SymbolTile& tile, const SymbolLists& lists,
                                           const SymbolTables& tables, const std::byte* payload,
                                           std::int16_t* models) {
  const TileOfMatrix to{tile, lists};
  if (tile.bytes == 0) {
    for (unsigned group = 0; group * kLanes < tile.columns; ++group) {
      for (unsigned line = 0; line < tile.rows && to.has_column(group); ++line)
        to.at(group, line) = 0;
    }
    return TileFault::kNone;
  }
  PeakedTileDecoder decoder(*tables.classes, *tables.peaked, models);
  return decoder.decode(
      {payload + tile.at, tile.bytes}, tile.columns, lists.runs + tile.first_run, tile.num_runs,
      [&](unsigned group, unsigned line, std::int16_t symbol) { to.at(group, line) = symbol; });
}

// A digit tile: what stands in the matrix becomes finer.
class DigitTileRefiner {
 public:
  __device__ DigitTileRefiner(const SymbolTile& tile, const SymbolLists& lists,
                              const SymbolTables& tables, std::int16_t* models)
      : tile_(tile), lists_(lists), to_{tile, lists}, tables_(tables), models_(models) {}

  __device__ TileFault refine(const std::byte* payload) {
    const unsigned groups = (tile_.columns + kLanes - 1) / kLanes;
    if (tile_.bytes == 0) return refine_with_zeros(groups);
    TileBytes in{payload + tile_.at, tile_.bytes};
    constexpr unsigned kHeaderBytes = 2;
    if (in.left < kHeaderBytes) return TileFault::kTooShort;
    const unsigned scale_table = in.get<std::uint8_t>();
    const auto scale_base = static_cast<std::int8_t>(in.get<std::uint8_t>());
    if (!stream_.open(in, tile_.columns < kLanes ? tile_.columns : kLanes))
      return TileFault::kTooShort;
    if (scale_table >= kNumScales) return TileFault::kBadModel;
    for (unsigned group = 0; group < groups; ++group) {
      if (!decode_model(group, scale_table, scale_base)) return TileFault::kTooShort;
    }
    for (unsigned group = 0; group < groups; ++group) {
      for (unsigned run = 0; run < tile_.num_runs; ++run) {
        if (!refine_run(group, lists_.runs[tile_.first_run + run])) return TileFault::kTooShort;
      }
    }
    return stream_.is_at_end() ? TileFault::kNone : TileFault::kBadEnd;
  }

 private:
  static constexpr unsigned kFields = 2;  // of a column's model: scale, shape
  // The slots of shapes, all equally frequent.
  struct ShapeLookup {
    __device__ Slot operator()(std::uint32_t place) const {
      constexpr std::uint32_t kShare = kTableSlots / kNumDigitShapes;
      return pack_slot(static_cast<std::int32_t>(place / kShare), kShare, place % kShare);
    }
  };
  // Those of a digit whose coarse symbol is known.
  struct DigitLookup {
    DigitTable table;
    __device__ Slot operator()(std::uint32_t place) const { return digit_slot(table, place); }
  };

  __device__ TileFault refine_with_zeros(unsigned groups) const {
    for (unsigned group = 0; group < groups; ++group) {
      for (unsigned line = 0; line < tile_.rows && to_.has_column(group); ++line)
        to_.at(group, line) = refined(to_.at(group, line), 0);
    }
    return TileFault::kNone;
  }

  [[nodiscard]] __device__ std::int16_t& model(unsigned group, unsigned field) const {
    return models_[(group * kFields + field) * kLanes + lane_of_thread()];
  }
  __device__ bool decode_model(unsigned group, unsigned scale_table, std::int32_t scale_base) {
    const ClassTables& classes = *tables_.classes;
    const SlotLookup scales{classes.slots + classes.singles[scale_table][kFieldScaleKind]};
    Slot scale = 0, shape = 0;
    if (!stream_.step(scales, to_.has_column(group), scale)) return false;
    if (!stream_.step(ShapeLookup{}, to_.has_column(group), shape)) return false;
    model(group, 0) = static_cast<std::int16_t>(scale_base + symbol_of(scale));
    model(group, 1) = static_cast<std::int16_t>(symbol_of(shape));
    return true;
  }

  __device__ bool refine_run(unsigned group, const DeviceRun& run) {
    const bool in_use = to_.has_column(group);
    const std::int32_t scale = in_use ? digit_scale(model(group, 0), run.shift) : 0;
    const std::int32_t shape = in_use ? model(group, 1) : 0;
    const auto& tables = tables_.digits->tables[shape][scale];
    const DigitTable zero = tables[0], one = tables[1], two = tables[2], more = tables[3];
    for (unsigned line = run.begin; line < run.end; ++line) {
      const std::int32_t coarse = in_use ? to_.at(group, line) : 0;
      const std::int32_t context = digit_context(coarse);
      const DigitTable table = context == 0 ? zero : context == 1 ? one : context == 2 ? two : more;
      Slot slot = 0;
      if (!stream_.step(DigitLookup{table}, in_use, slot)) return false;
      if (in_use) to_.at(group, line) = refined(coarse, seen_from_zero(coarse, symbol_of(slot)));
    }
    return true;
  }

  const SymbolTile& tile_;
  const SymbolLists& lists_;
  TileOfMatrix to_;
  const SymbolTables& tables_;
  std::int16_t* models_;
  WarpStream stream_;
};

// A warp takes every num_warps-th tile of its stage. Faults come in the order of the list: that of
// a decoder that reads one plane after the other, whichever payloads they are in.
inline __global__ void __launch_bounds__(kMaxTileThreads, 4)
    decode_symbol_tiles(SymbolLists lists, unsigned num_tiles, unsigned stage, SymbolTables tables,
                        const std::byte* payload, std::int16_t* models, RunHeader* header) {
  const unsigned warp = threadIdx.x / kLanes;
  const unsigned warps = blockDim.x / kLanes;
  for (unsigned index = blockIdx.x * warps + warp; index < num_tiles; index += gridDim.x * warps) {
    const SymbolTile& tile = lists.tiles[index];
    if (tile.stage != stage) continue;
    std::int16_t* const own = models + tile.models_at;
    const bool is_digits = tile.model == static_cast<std::uint16_t>(PlaneModel::kDigits);
    const TileFault fault = is_digits ? DigitTileRefiner(tile, lists, tables, own).refine(payload)
                                      : decode_symbols(tile, lists, tables, payload, own);
    if (fault != TileFault::kNone && lane_of_thread() == 0)
      report_fault(header, {index, static_cast<std::uint8_t>(fault), 0});
  }
}

// All tiles of one stage, on so many blocks of so many warps. `models_dev` holds num_models() of
// int16.
struct SymbolLaunch {
  SymbolLists lists;
  unsigned num_tiles = 0;
  const std::byte* payload_dev = nullptr;
  std::int16_t* models_dev = nullptr;
  RunHeader* header_dev = nullptr;
  unsigned blocks = 1, warps_per_block = 4;
};
[[nodiscard]] inline Status launch_symbol_tiles(const char* name, const SymbolLaunch& work,
                                                unsigned stage, StreamHandle stream) {
  if (work.num_tiles == 0) return {};
  const auto classes = class_tables_on_device();
  const auto peaked = peaked_tables_on_device();
  const auto digits = digit_tables_on_device();
  if (!classes) return classes.error();
  if (!peaked) return peaked.error();
  if (!digits) return digits.error();
  const GridSize size{.blocks = work.blocks,
                      .threads_per_block = static_cast<unsigned>(work.warps_per_block * kLanes)};
  return launch(name, size, stream, decode_symbol_tiles, work.lists, work.num_tiles, stage,
                SymbolTables{*classes, *peaked, *digits}, work.payload_dev, work.models_dev,
                work.header_dev);
}

}  // namespace sluice::entropy
