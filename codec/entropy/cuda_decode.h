// The decoder of tiles on a GPU, one warp per tile: column models, symbols, and each symbol at once
// as an element of the tensor's layout.
// Where in the flow: instantiated by the cachegen codecs' cuda.cu with their Rows: what a row's
// symbols are worth and which token they are.
// Surprise: all lanes of a warp take every branch together; what differs by lane is data.
#pragma once

#include "codec/device/launch.h"
#include "codec/device/plan.h"
#include "codec/device/shared_memory.h"
#include "codec/entropy/cuda_peaked_decode.h"
#include "codec/entropy/cuda_plan.h"
#include "codec/entropy/cuda_shipped.h"
#include "codec/entropy/cuda_stream.h"
#include "codec/entropy/cuda_tables.h"
#include "codec/entropy/cuda_tile_header.h"
#include "codec/entropy/tile_faults.h"

namespace sluice::entropy {

// A row as a codec sees it.
struct RowFacts {
  float step;             // what one symbol is worth
  std::int64_t elements;  // from the tensor's start to the token's first element
};

// The column that a lane decodes.
struct LaneColumn {
  bool in_use;
  unsigned channel;       // of the plane
  std::int64_t elements;  // from a token's first element
};
__device__ inline LaneColumn column_of(const PlaneJob& plane, const TileJob& tile, unsigned group) {
  const unsigned column = group * kLanes + lane_of_thread();
  LaneColumn lane{column < tile.columns, tile.column + column, 0};
  if (lane.in_use) {
    lane.elements = lane.channel / plane.dim * plane.tensor.strides.head +
                    lane.channel % plane.dim * plane.tensor.strides.dim;
  }
  return lane;
}

// Facts of 32 rows at a time, each lane working out one.
template <typename Rows>
class RowWindow {
 public:
  __device__ RowFacts at(const PlaneJob& plane, const std::byte* payload, const TileJob& tile,
                         unsigned row) {
    if (row % kLanes == 0) {
      const unsigned mine = row + lane_of_thread();
      own_ = Rows::facts(plane, payload, tile.row + (mine < tile.rows ? mine : tile.rows - 1));
    }
    const int source = static_cast<int>(row % kLanes);
    return {__shfl_sync(kAllLanes, own_.step, source),
            __shfl_sync(kAllLanes, own_.elements, source)};
  }

 private:
  RowFacts own_{0, 0};
};

template <typename Rows>
struct TileDecoder {
  const TileJob& tile;
  const PlaneJob& plane;
  const std::byte* payload;
  WarpStream stream{};

  __device__ void put(const RowFacts& facts, unsigned row, const LaneColumn& column,
                      std::int32_t symbol) const {
    if (!column.in_use) return;
    Rows::put(plane, facts, tile.row + row, column, static_cast<std::int16_t>(symbol));
  }

  // Rows from `first` on, one per step.
  template <typename Lookup>
  __device__ bool decode_singles(const Lookup& lookup, std::int32_t centre,
                                 const LaneColumn& column, unsigned first) {
    RowWindow<Rows> window;
    for (unsigned row = first; row < tile.rows; ++row) {
      Slot slot = 0;
      if (!stream.step(lookup, column.in_use, slot)) return false;
      const RowFacts facts = row == first && first % kLanes != 0
                                 ? Rows::facts(plane, payload, tile.row + row)
                                 : window.at(plane, payload, tile, row);
      put(facts, row, column, centre + symbol_of(slot));
    }
    return true;
  }

  // Two rows per step; an odd last row is left.
  __device__ bool decode_pairs(const SlotLookup& lookup, std::int32_t centre,
                               const LaneColumn& column) {
    RowWindow<Rows> window;
    for (unsigned row = 0; row + 1 < tile.rows; row += 2) {
      Slot slot = 0;
      if (!stream.step(lookup, column.in_use, slot)) return false;
      const RowFacts first = window.at(plane, payload, tile, row);
      put(first, row, column, centre + first_of(slot));
      const RowFacts second = window.at(plane, payload, tile, row + 1);
      put(second, row + 1, column, centre + second_of(slot));
    }
    return true;
  }

  // What an empty tile means.
  __device__ TileFault decode_nothing() const {
    for (unsigned group = 0; group * kLanes < tile.columns; ++group) {
      const LaneColumn column = column_of(plane, tile, group);
      for (unsigned row = 0; row < tile.rows; ++row)
        put(Rows::facts(plane, payload, tile.row + row), row, column, 0);
    }
    return TileFault::kNone;
  }
  __device__ TileFault decode_with_classes(const ClassTables& tables, std::int16_t* models);
  __device__ bool decode_models(const ClassTileHeader& header, const ClassTables& tables,
                                std::int16_t* models);
  __device__ TileFault decode_group(ClassTileHeader& header, const ClassTables& tables,
                                    const std::int16_t* models, unsigned group);
  __device__ TileFault decode_with_shipped(ShippedStarts& starts);
  __device__ TileFault decode_with_peaked(const ClassTables& classes, const PeakedTables& peaked,
                                          std::int16_t* models);
};

template <typename Rows>
__device__ TileFault TileDecoder<Rows>::decode_with_classes(const ClassTables& tables,
                                                            std::int16_t* models) {
  if (tile.bytes == 0) return decode_nothing();
  const unsigned groups = (tile.columns + kLanes - 1) / kLanes;
  TileBytes in{payload + tile.at, tile.bytes};
  ClassTileHeader header;
  if (!header.read(in, groups)) return TileFault::kTooShort;
  if (!stream.open(in, tile.columns < kLanes ? tile.columns : kLanes)) return TileFault::kTooShort;
  if (!header.is_known(groups)) return TileFault::kBadModel;
  if (!decode_models(header, tables, models)) return TileFault::kTooShort;
  for (unsigned group = 0; group < groups; ++group) {
    const TileFault fault =
        decode_group(header, tables, models + group * kNumFields * kLanes, group);
    if (fault != TileFault::kNone) return fault;
  }
  if (header.exceptions.left > 0) return TileFault::kBadException;
  return stream.is_at_end() ? TileFault::kNone : TileFault::kBadEnd;
}

// Each lane keeps the models of its own columns: [group][field][lane].
template <typename Rows>
__device__ bool TileDecoder<Rows>::decode_models(const ClassTileHeader& header,
                                                 const ClassTables& tables, std::int16_t* models) {
  const SlotLookup fields[kNumFields] = {
      {tables.slots + tables.singles[header.scale_table][kFieldScaleKind]},
      {tables.slots + tables.kinds},
      {tables.slots + tables.singles[header.centre_table][kFieldCentreKind]}};
  const std::int32_t bases[kNumFields] = {header.scale_base, 0, header.centre_base};
  for (unsigned first = 0; first < tile.columns; first += kLanes) {
    const bool in_use = first + lane_of_thread() < tile.columns;
    for (int field = 0; field < kNumFields; ++field) {
      Slot slot = 0;
      if (!stream.step(fields[field], in_use, slot)) return false;
      *(models + lane_of_thread()) = static_cast<std::int16_t>(bases[field] + symbol_of(slot));
      models += kLanes;
    }
  }
  return true;
}

template <typename Rows>
__device__ TileFault TileDecoder<Rows>::decode_group(ClassTileHeader& header,
                                                     const ClassTables& tables,
                                                     const std::int16_t* models, unsigned group) {
  const LaneColumn column = column_of(plane, tile, group);
  const std::int32_t scale = models[lane_of_thread()];
  const std::int32_t kind = models[kLanes + lane_of_thread()];
  const std::int32_t centre = models[2 * kLanes + lane_of_thread()];
  const bool is_known = !column.in_use || (scale >= 0 && scale < kNumScales);
  if (__all_sync(kAllLanes, is_known) == 0) return TileFault::kBadModel;
  const bool paired = header.is_paired(group);
  const std::int32_t pairs = column.in_use ? tables.pairs[scale][kind] : 0;
  const std::int32_t singles = column.in_use ? tables.singles[scale][kind] : 0;
  if (paired && __any_sync(kAllLanes, pairs < 0) != 0) return TileFault::kBadModel;
  if (paired && !decode_pairs({tables.slots + pairs}, centre, column)) return TileFault::kTooShort;
  const unsigned first = paired ? tile.rows / 2 * 2 : 0;
  if (!decode_singles(SlotLookup{tables.slots + singles}, centre, column, first))
    return TileFault::kTooShort;
  const unsigned used = tile.columns - group * kLanes;
  const bool well_placed = header.exceptions.take_group(
      group, tile.rows, used < kLanes ? used : kLanes, [&](unsigned row, std::uint16_t symbol) {
        put(Rows::facts(plane, payload, tile.row + row), row, column,
            static_cast<std::int16_t>(symbol));
      });
  return well_placed ? TileFault::kNone : TileFault::kBadException;
}

template <typename Rows>
__device__ TileFault TileDecoder<Rows>::decode_with_shipped(ShippedStarts& starts) {
  const unsigned groups = (tile.columns + kLanes - 1) / kLanes;
  TileBytes in{payload + tile.at, tile.bytes};
  if (in.left / kShippedBytes < tile.columns) return TileFault::kTooShort;
  const std::byte* const distributions = in.at;
  const auto build = [&](const LaneColumn& column) {
    const unsigned in_tile = column.channel - tile.column;
    return !column.in_use || starts.build(distributions + in_tile * kShippedBytes);
  };
  for (unsigned group = 0; group < groups; ++group) {
    const bool is_good = build(column_of(plane, tile, group));
    if (__all_sync(kAllLanes, is_good) == 0) return TileFault::kBadTable;
  }
  in.skip(tile.columns * kShippedBytes);
  if (!stream.open(in, tile.columns < kLanes ? tile.columns : kLanes)) return TileFault::kTooShort;
  for (unsigned group = 0; group < groups; ++group) {
    const LaneColumn column = column_of(plane, tile, group);
    (void)build(column);
    if (!decode_singles(ShippedLookup{starts}, 0, column, 0)) return TileFault::kTooShort;
  }
  return stream.is_at_end() ? TileFault::kNone : TileFault::kBadEnd;
}

template <typename Rows>
__device__ TileFault TileDecoder<Rows>::decode_with_peaked(const ClassTables& classes,
                                                           const PeakedTables& peaked,
                                                           std::int16_t* models) {
  if (tile.bytes == 0) return decode_nothing();
  const DeviceRun all_rows{0, tile.rows, 0};
  PeakedTileDecoder decoder(classes, peaked, models);
  return decoder.decode({payload + tile.at, tile.bytes}, tile.columns, &all_rows, 1,
                        [&](unsigned group, unsigned row, std::int16_t symbol) {
                          put(Rows::facts(plane, payload, tile.row + row), row,
                              column_of(plane, tile, group), symbol);
                        });
}

// What kernels read of the families.
struct FamilyTables {
  const ClassTables* classes = nullptr;
  const PeakedTables* peaked = nullptr;
};

// A warp takes every num_warps-th tile of its stage.
template <typename Rows>
__global__ void __launch_bounds__(kMaxTileThreads, 4)
    decode_tiles(const PlaneJob* planes, const TileJob* tiles, unsigned num_tiles, unsigned stage,
                 FamilyTables tables, const std::byte* payload, std::int16_t* models,
                 RunHeader* header) {
  const unsigned warp = threadIdx.x / kLanes;
  const unsigned warps = blockDim.x / kLanes;
  for (unsigned index = blockIdx.x * warps + warp; index < num_tiles; index += gridDim.x * warps) {
    const TileJob& tile = tiles[index];
    if (tile.stage != stage) continue;
    TileDecoder<Rows> decoder{tile, planes[tile.plane], payload};
    const auto model = static_cast<PlaneModel>(tile.model);
    std::int16_t* const own = models + tile.models_at;
    const TileFault fault = model == PlaneModel::kShipped
                                ? decoder.decode_with_shipped(dynamic_shared<ShippedStarts>()[warp])
                            : model == PlaneModel::kPeaked
                                ? decoder.decode_with_peaked(*tables.classes, *tables.peaked, own)
                                : decoder.decode_with_classes(*tables.classes, own);
    if (fault != TileFault::kNone && lane_of_thread() == 0)
      report_fault(header, {tile.at, static_cast<std::uint8_t>(fault), 0});
  }
}

// All tiles of one stage of the plan.
template <typename Rows>
[[nodiscard]] Status launch_tiles(const char* name, const DevicePlan& plan, unsigned stage,
                                  StreamHandle stream) {
  if (plan.num_tiles == 0) return {};
  const auto classes = class_tables_on_device();
  const auto peaked = peaked_tables_on_device();
  if (!classes) return classes.error();
  if (!peaked) return peaked.error();
  const GridSize size{
      .blocks = num_blocks(plan),
      .threads_per_block = static_cast<unsigned>(plan.target.parameters.warps_per_block * kLanes),
      .dynamic_shared_bytes = plan.shared_bytes};
  const auto* const planes = jobs_dev<PlaneJob>(plan);
  auto* const models =
      reinterpret_cast<std::int16_t*>(plan.memory.work_dev.data() + plan.scratch_at);
  return launch(name, size, stream, decode_tiles<Rows>, planes,
                reinterpret_cast<const TileJob*>(planes + plan.num_jobs), plan.num_tiles, stage,
                FamilyTables{*classes, *peaked}, plan.memory.payload_dev.data(), models,
                header_dev(plan));
}

}  // namespace sluice::entropy
