// The encoder of tiles on a GPU, one warp per tile: a lane chooses its column's model, then all
// code the symbols backwards, as the CPU does and to the same bytes. Where in the flow: launched by
// the cachegen codecs' cuda.cu, after their quantisers have written symbols; cuda_collect.h then
// copies the tiles together.
#pragma once

#include "codec/device/kernel_parts.h"
#include "codec/device/shared_memory.h"
#include "codec/entropy/cuda_encode_shipped.h"
#include "codec/entropy/cuda_stream_writer.h"
#include "codec/entropy/cuda_tables.h"
#include "codec/entropy/field_fit.h"
#include "codec/entropy/lane_tables.h"

namespace sluice::entropy {

struct WeighColumn {
  __device__ std::int32_t operator()(const std::int16_t* counts, const std::int16_t* costs,
                                     std::int32_t span) const {
    std::int32_t sum = 0;
    for (std::int32_t i = 0; i < span; ++i) sum += counts[i] * costs[i];
    return sum;
  }
};

// The lane's model with the table it names.
struct LaneModel {
  std::int32_t centre = 0, first = 0, last = 0, mode = 0;  // of the table, around the centre
  const EncodingSymbol* singles = nullptr;
  const EncodingSymbol* pairs = nullptr;

  // Of a symbol; what the table lacks is coded as its mode, and listed.
  [[nodiscard]] __device__ bool lacks(std::int32_t symbol) const {
    return symbol - centre < first || symbol - centre > last;
  }
  [[nodiscard]] __device__ std::int32_t coded(std::int32_t symbol) const {
    return lacks(symbol) ? mode : symbol - centre;
  }
};
__device__ inline LaneModel lane_model(const ClassTables& tables, const ColumnModel& model) {
  const std::int32_t table = tables.facts.place[model.scale * kNumKinds + model.kind];
  LaneModel lane;
  lane.centre = model.centre;
  lane.first = tables.facts.firsts[table];
  lane.last = tables.facts.lasts[table];
  lane.mode = tables.modes[table];
  lane.singles = tables.symbols + tables.single_symbols[model.scale][model.kind];
  lane.pairs = tables.symbols + tables.pair_symbols[model.scale][model.kind];
  return lane;
}

class ClassTileEncoder {
 public:
  __device__ ClassTileEncoder(const TileSymbols& symbols, const ClassTables& tables)
      : symbols_(symbols), tables_(tables), tile_(symbols.tile), room_(symbols.tile.room) {}

  __device__ CodedTile encode() {
    choose_models();
    list_exceptions();
    WarpStreamWriter stream(room_ + tile_.room_bytes);
    for (unsigned group = symbols_.groups(); group-- > 0;) put_rows(group, stream);
    CodedTile coded;
    coded.symbol_bytes = stream.word_bytes();
    for (unsigned group = symbols_.groups(); group-- > 0;) put_fields(group, stream);
    const unsigned used = tile_.columns < kLanes ? tile_.columns : kLanes;
    if (lane_of_thread() < used) {
      store_u32(room_ + front_bytes_ + lane_of_thread() * sizeof(std::uint32_t), stream.state());
    }
    coded.front_bytes = front_bytes_ + used * static_cast<unsigned>(sizeof(std::uint32_t));
    coded.word_bytes = stream.word_bytes();
    return coded;
  }

 private:
  static constexpr unsigned kExceptionsAt = 5, kFlagsAt = 9, kExceptionBytes = 4;

  // The models of all columns, the pair flags and the fields' tables.
  __device__ void choose_models() {
    for (unsigned group = 0; group < symbols_.groups(); ++group) choose_group(group);
    front_bytes_ = kFlagsAt + (symbols_.groups() + 7) / 8;
    __syncwarp();  // lane 0 reads the models of all lanes
    if (lane_of_thread() == 0) {
      const FieldModel fields =
          fit_fields(tile_.models, static_cast<std::int32_t>(tile_.columns), tables_.facts);
      room_[0] = static_cast<std::byte>(fields.scale_table);
      room_[1] = static_cast<std::byte>(fields.scale_base);
      room_[2] = static_cast<std::byte>(fields.centre_table);
      store_u16(room_ + 3, static_cast<std::uint16_t>(fields.centre_base));
    }
    __syncwarp();  // which may have moved centres, and tells the fields
    scale_table_ = static_cast<unsigned>(room_[0]);
    scale_base_ = static_cast<std::int32_t>(room_[1]);
    centre_table_ = static_cast<unsigned>(room_[2]);
    centre_base_ = static_cast<std::int16_t>(load_u16(room_ + 3));
  }

  __device__ void choose_group(unsigned group) {
    long long cost = 0, loss = 0;
    bool has_pairs = true;
    ColumnModel model;
    if (symbols_.in_use(group)) {
      ColumnCounts counts;
      count(group, counts);
      const ChosenModel chosen =
          ModelSearch<WeighColumn>(counts, tables_.facts, {}).run(tile_.rows);
      model = chosen.model;
      cost = chosen.cost;
      const std::int32_t table = tables_.facts.place[model.scale * kNumKinds + model.kind];
      loss = static_cast<long long>(tile_.rows / 2) * tables_.pair_loss[table];
      has_pairs = tables_.pairs[model.scale][model.kind] >= 0;
    }
    const bool all_have_pairs = __all_sync(kAllLanes, has_pairs) != 0;
    cost = sum_over_warp(cost);
    loss = sum_over_warp(loss);
    const bool paired = all_have_pairs && pays_to_pair(tile_.rows, loss, cost);
    if (group % 8 == 0) flags_ = 0;
    flags_ |= static_cast<unsigned>(paired) << group % 8;
    if (lane_of_thread() == 0) room_[kFlagsAt + group / 8] = static_cast<std::byte>(flags_);
    if (symbols_.in_use(group)) tile_.models[symbols_.column(group)] = model;
  }

  __device__ void count(unsigned group, ColumnCounts& counts) const {
    std::int32_t low = symbols_.at(group, 0), high = low;
    for (unsigned row = 1; row < tile_.rows; ++row) {
      const std::int32_t symbol = symbols_.at(group, row);
      low = symbol < low ? symbol : low;
      high = symbol > high ? symbol : high;
    }
    counts.start_with(low, high);
    if (!counts.is_narrow()) {
      counts.count_wide(symbols_.start(group), symbols_.plane.columns, tile_.rows);
      return;
    }
    std::int32_t sum = 0, squares = 0;  // 2048 rows of 64 places fit
    for (unsigned row = 0; row < tile_.rows; ++row) {
      const std::int32_t place = symbols_.at(group, row) - low;
      ++counts.counts[place];
      sum += place;
      squares += place * place;
    }
    counts.finish_narrow(tile_.rows, sum, squares);
  }

  __device__ LaneModel model_of(unsigned group) const {
    if (!symbols_.in_use(group)) return {};
    return lane_model(tables_, tile_.models[symbols_.column(group)]);
  }

  // In the order of their places: row by row, lane by lane.
  __device__ void list_exceptions() {
    std::byte* const list = room_ + front_bytes_;
    unsigned listed = 0;
    for (unsigned group = 0; group < symbols_.groups(); ++group) {
      const LaneModel model = model_of(group);
      for (unsigned row = 0; row < tile_.rows; ++row) {
        const std::int32_t symbol = symbols_.in_use(group) ? symbols_.at(group, row) : 0;
        const bool is_lacking = symbols_.in_use(group) && model.lacks(symbol);
        const unsigned lacking = __ballot_sync(kAllLanes, is_lacking);
        if (is_lacking) {
          const unsigned below = lacking & ((1U << lane_of_thread()) - 1);
          std::byte* const at =
              list + kExceptionBytes * (listed + static_cast<unsigned>(__popc(below)));
          store_u16(at, static_cast<std::uint16_t>((group * tile_.rows + row) * kLanes +
                                                   lane_of_thread()));
          store_u16(at + 2, static_cast<std::uint16_t>(symbol));
        }
        listed += static_cast<unsigned>(__popc(lacking));
      }
    }
    if (lane_of_thread() == 0) store_u32(room_ + kExceptionsAt, listed);
    front_bytes_ += listed * kExceptionBytes;
  }

  __device__ void put_rows(unsigned group, WarpStreamWriter& stream) const {
    const bool in_use = symbols_.in_use(group);
    const LaneModel model = model_of(group);
    const auto coded = [&](unsigned row) {
      return in_use ? model.coded(symbols_.at(group, row)) : 0;
    };
    const bool paired = (static_cast<unsigned>(room_[kFlagsAt + group / 8]) >> group % 8 & 1) != 0;
    const unsigned pairs = paired ? tile_.rows / 2 : 0;
    for (unsigned row = tile_.rows; row-- > 2 * pairs;)
      stream.put(in_use ? model.singles[coded(row)] : EncodingSymbol{}, in_use);
    for (unsigned pair = pairs; pair-- > 0;) {
      const std::int32_t both = kPairSpan * coded(2 * pair) + coded(2 * pair + 1);
      stream.put(in_use ? model.pairs[both] : EncodingSymbol{}, in_use);
    }
  }

  __device__ void put_fields(unsigned group, WarpStreamWriter& stream) const {
    const bool in_use = symbols_.in_use(group);
    const ColumnModel model = in_use ? tile_.models[symbols_.column(group)] : ColumnModel{};
    const auto put = [&](std::int32_t table, std::int32_t symbol) {
      stream.put(in_use ? tables_.symbols[table + symbol] : EncodingSymbol{}, in_use);
    };
    put(tables_.single_symbols[centre_table_][kFieldCentreKind], model.centre - centre_base_);
    put(tables_.kind_symbols, model.kind);
    put(tables_.single_symbols[scale_table_][kFieldScaleKind], model.scale - scale_base_);
  }

  const TileSymbols symbols_;
  const ClassTables& tables_;
  const TileToEncode& tile_;
  std::byte* room_;
  unsigned flags_ = 0, front_bytes_ = 0;
  unsigned scale_table_ = 0, centre_table_ = 0;
  std::int32_t scale_base_ = 0, centre_base_ = 0;
};

// A warp takes every num_warps-th tile.
inline __global__ void __launch_bounds__(kMaxTileThreads, 2)
    encode_tiles(const PlaneToEncode* planes, const TileToEncode* tiles, unsigned num_tiles,
                 const ClassTables* tables, CodedTile* coded) {
  const unsigned warp = threadIdx.x / kLanes;
  const unsigned warps = blockDim.x / kLanes;
  for (unsigned index = blockIdx.x * warps + warp; index < num_tiles; index += gridDim.x * warps) {
    const TileSymbols symbols{tiles[index], planes[tiles[index].plane]};
    const CodedTile result =
        symbols.plane.model == static_cast<std::uint32_t>(PlaneModel::kShipped)
            ? encode_with_shipped(symbols, dynamic_shared<ShippedStarts>()[warp])
            : ClassTileEncoder(symbols, *tables).encode();
    if (lane_of_thread() == 0) coded[index] = result;
  }
}

}  // namespace sluice::entropy
