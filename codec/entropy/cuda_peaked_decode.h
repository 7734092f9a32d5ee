// A tile of model 4 on one warp.
// Where in the flow: under cuda_decode.h (planes of rows as they are) and cuda_symbols.h (planes
// with row shifts). spec.md, section 10. Surprise: every function here is called by all 32 lanes
// together and answers all alike, but for the symbols that `put` gets.
#pragma once

#include "codec/entropy/cuda_stream.h"
#include "codec/entropy/cuda_symbol_plan.h"
#include "codec/entropy/cuda_symbol_tables.h"
#include "codec/entropy/cuda_tables.h"
#include "codec/entropy/excess.h"
#include "codec/entropy/lane_tables.h"
#include "codec/entropy/tile_faults.h"

namespace sluice::entropy {

// Slots in device memory.
struct SlotLookup {
  const Slot* slots;
  __device__ Slot operator()(std::uint32_t place) const { return __ldg(slots + place); }
};

class PeakedTileDecoder {
 public:
  // `models`: room for [group][field][lane].
  __device__ PeakedTileDecoder(const ClassTables& classes, const PeakedTables& peaked,
                               std::int16_t* models)
      : classes_(classes), peaked_(peaked), models_(models) {}

  // put(group, line, symbol) in the lanes in use: the symbol of the lane's column of the group, in
  // the line-th row of coding order.
  template <typename Put>
  __device__ TileFault decode(TileBytes in, unsigned columns, const DeviceRun* runs,
                              unsigned num_runs, const Put& put) {
    columns_ = columns;
    const unsigned groups = (columns + kLanes - 1) / kLanes;
    if (!read_header(in, groups)) return TileFault::kTooShort;
    if (!stream_.open(in, columns < kLanes ? columns : kLanes)) return TileFault::kTooShort;
    const bool has_spare_flags =
        groups % 8 != 0 && static_cast<unsigned>(flags_[groups / 8]) >> groups % 8 != 0;
    if (scale_table_ >= kNumScales || centre_table_ >= kNumScales || has_spare_flags)
      return TileFault::kBadModel;
    for (unsigned group = 0; group < groups; ++group) {
      const TileFault fault = decode_models(group);
      if (fault != TileFault::kNone) return fault;
    }
    for (unsigned group = 0; group < groups; ++group) {
      for (unsigned run = 0; run < num_runs; ++run) {
        const TileFault fault = decode_run(group, runs[run], put);
        if (fault != TileFault::kNone) return fault;
      }
    }
    if (!excess_.is_at_end()) return TileFault::kBadException;
    return stream_.is_at_end() ? TileFault::kNone : TileFault::kBadEnd;
  }

 private:
  // What a lane decodes of a group in the rows of a shift.
  struct Lane {
    bool in_use;
    std::int32_t centre, low, high;
    std::int32_t singles, pairs;  // offsets of slots
  };

  // Leaves `in` at the stream; false when the tile ends before.
  __device__ bool read_header(TileBytes& in, unsigned groups) {
    constexpr unsigned kFixedBytes = 9;
    const unsigned flag_bytes = (groups + 7) / 8;
    if (in.left < kFixedBytes + flag_bytes) return false;
    scale_table_ = in.get<std::uint8_t>();
    scale_base_ = in.get<std::uint8_t>();
    centre_table_ = in.get<std::uint8_t>();
    centre_base_ = static_cast<std::int16_t>(in.get<std::uint16_t>());
    const auto excess_bytes = in.get<std::uint32_t>();
    flags_ = in.at;
    in.skip(flag_bytes);
    if (in.left < excess_bytes) return false;
    excess_ = ExcessReader(in.at, excess_bytes);
    in.skip(excess_bytes);
    return true;
  }

  [[nodiscard]] __device__ bool is_used(unsigned group) const {
    return group * kLanes + lane_of_thread() < columns_;
  }
  [[nodiscard]] __device__ std::int16_t& model(unsigned group, unsigned field) const {
    return models_[(group * kNumFields + field) * kLanes + lane_of_thread()];
  }

  // Each lane keeps the models of its own columns.
  __device__ TileFault decode_models(unsigned group) {
    const SlotLookup fields[kNumFields] = {
        {classes_.slots + classes_.singles[scale_table_][kFieldScaleKind]},
        {peaked_.slots + peaked_.kinds},
        {classes_.slots + classes_.singles[centre_table_][kFieldCentreKind]}};
    const std::int32_t bases[kNumFields] = {scale_base_, 0, centre_base_};
    for (unsigned field = 0; field < kNumFields; ++field) {
      Slot slot = 0;
      if (!stream_.step(fields[field], is_used(group), slot)) return TileFault::kTooShort;
      model(group, field) = static_cast<std::int16_t>(bases[field] + symbol_of(slot));
    }
    const std::int32_t scale = model(group, 0);
    const bool is_known = !is_used(group) || (scale >= 0 && scale < kNumPeakedScales);
    return __all_sync(kAllLanes, is_known) != 0 ? TileFault::kNone : TileFault::kBadModel;
  }

  [[nodiscard]] __device__ Lane lane_of(unsigned group, std::int32_t shift) const {
    Lane lane{is_used(group), 0, INT16_MIN, INT16_MAX, 0, 0};
    if (!lane.in_use) return lane;
    const std::int32_t scale = peaked_scale(model(group, 0), shift);
    const std::int32_t kind = model(group, 1);
    lane.centre = model(group, 2);
    lane.low = peaked_.lows[scale][kind];
    lane.high = peaked_.highs[scale][kind];
    lane.singles = peaked_.singles[scale][kind];
    lane.pairs = peaked_.pairs[scale][kind];
    return lane;
  }

  // The whole of a run is decoded before what its escapes say counts, as on the CPU.
  template <typename Put>
  __device__ TileFault decode_run(unsigned group, const DeviceRun& run, const Put& put) {
    const Lane lane = lane_of(group, run.shift);
    const bool paired = (static_cast<unsigned>(flags_[group / 8]) >> group % 8 & 1) != 0;
    if (paired && __any_sync(kAllLanes, lane.pairs < 0) != 0) return TileFault::kBadModel;
    unsigned line = run.begin;
    for (; paired && line + 1 < run.end; line += 2) {
      Slot slot = 0;
      if (!stream_.step(SlotLookup{peaked_.slots + lane.pairs}, lane.in_use, slot))
        return TileFault::kTooShort;
      put_symbol(group, line, lane, first_of(slot), put);
      put_symbol(group, line + 1, lane, second_of(slot), put);
    }
    for (; line < run.end; ++line) {
      Slot slot = 0;
      if (!stream_.step(SlotLookup{peaked_.slots + lane.singles}, lane.in_use, slot))
        return TileFault::kTooShort;
      put_symbol(group, line, lane, symbol_of(slot), put);
    }
    return has_bad_excess_ ? TileFault::kBadException : TileFault::kNone;
  }

  // Escapes are few: all lanes read the list together, in the order of lanes.
  template <typename Put>
  __device__ void put_symbol(unsigned group, unsigned line, const Lane& lane, std::int32_t relative,
                             const Put& put) {
    const bool is_low = lane.in_use && relative <= lane.low;
    const bool is_high = lane.in_use && relative >= lane.high;
    unsigned escapes = __ballot_sync(kAllLanes, is_low || is_high);
    for (; escapes != 0 && !has_bad_excess_; escapes &= escapes - 1) {
      std::int32_t beyond = 0;
      has_bad_excess_ = !excess_.get(beyond);
      const auto at = static_cast<unsigned>(__ffs(static_cast<int>(escapes)) - 1);
      if (at == lane_of_thread()) relative += is_low ? -beyond : beyond;
    }
    if (lane.in_use) put(group, line, static_cast<std::int16_t>(lane.centre + relative));
  }

  const ClassTables& classes_;
  const PeakedTables& peaked_;
  std::int16_t* models_;
  unsigned columns_ = 0;
  unsigned scale_table_ = 0, centre_table_ = 0;
  std::int32_t scale_base_ = 0, centre_base_ = 0;
  const std::byte* flags_ = nullptr;
  ExcessReader excess_{nullptr, 0};
  bool has_bad_excess_ = false;
  WarpStream stream_;
};

}  // namespace sluice::entropy
