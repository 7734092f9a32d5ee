// A tile's bytes to symbols, group by group.
#include <algorithm>
#include <cstring>
#include <optional>

#include "codec/entropy/lane_tables.h"
#include "codec/entropy/peaked_tile.h"
#include "codec/entropy/shipped_tables.h"
#include "codec/entropy/stream_reader.h"
#include "codec/entropy/tile.h"
#include "codec/entropy/tile_faults.h"

namespace sluice::entropy {
namespace {

constexpr const char* kTooShort = to_text(TileFault::kTooShort);
constexpr const char* kBadEnd = to_text(TileFault::kBadEnd);
constexpr const char* kBadModel = to_text(TileFault::kBadModel);
constexpr const char* kBadException = to_text(TileFault::kBadException);
constexpr const char* kBadTable = to_text(TileFault::kBadTable);
constexpr std::size_t kExceptionBytes = 4;

// The exceptions of a tile, taken in order as their groups are decoded.
class Exceptions {
 public:
  Exceptions(ByteReader& in, std::uint32_t count)
      : left_(in.get_bytes(std::size_t{count} * kExceptionBytes)) {}
  // Puts those of the group that starts at `first_place` into its block. False when one lies
  // outside the lanes in use or before its predecessor.
  bool put(std::int64_t first_place, std::int64_t rows, int lanes, std::int16_t* block) {
    while (left_.left() > 0) {
      ByteReader next = left_;
      const std::int64_t place = next.get<std::uint16_t>() - first_place;
      if (place >= rows * kLanes) return true;
      if (place <= previous_ - first_place || place < 0 || place % kLanes >= lanes) return false;
      block[place] = next.get<std::int16_t>();
      previous_ = first_place + place;
      left_ = next;
    }
    return true;
  }
  [[nodiscard]] bool is_empty() const { return left_.left() == 0; }

 private:
  ByteReader left_;
  std::int64_t previous_ = -1;
};

const char* decode_with_classes(ByteReader in, const TileArea& area, const PlaneOptions& options,
                                std::int16_t* block, BlockSink& sink) {
  FieldModel fields;
  fields.scale_table = in.get<std::uint8_t>();
  fields.scale_base = in.get<std::uint8_t>();
  fields.centre_table = in.get<std::uint8_t>();
  fields.centre_base = in.get<std::int16_t>();
  const auto num_exceptions = in.get<std::uint32_t>();
  const std::int64_t groups = groups_of(area.columns);
  const auto flags = in.get_bytes(static_cast<std::size_t>((groups + 7) / 8));
  Exceptions exceptions(in, num_exceptions);
  StreamReader stream(in, lanes_of(area.columns, 0), kernels_of(options.backend));
  if (!stream.is_whole()) return kTooShort;
  if (fields.scale_table >= kNumScales || fields.centre_table >= kNumScales) return kBadModel;
  if (groups % 8 != 0 && std::to_integer<unsigned>(flags.back()) >> groups % 8 != 0) {
    return kBadModel;
  }

  const ClassFamily& family = class_family();
  std::vector<std::int16_t> models(static_cast<std::size_t>(groups * kNumFields * kLanes));
  for (std::int64_t group = 0; group < groups; ++group) {
    for (int field = 0; field < kNumFields; ++field) {
      const auto lanes = field_lanes(fields, field, lanes_of(area.columns, group));
      std::int16_t* const to = models.data() + (group * kNumFields + field) * kLanes;
      if (!stream.get_run(lanes, {0, 1, 0}, false, to)) return kTooShort;
    }
  }
  const RowOrder order = order_rows(area, options.row_shifts);
  for (std::int64_t group = 0; group < groups; ++group) {
    const std::int16_t* const model = models.data() + group * kNumFields * kLanes;
    const int used = lanes_of(area.columns, group);
    const bool paired =
        (std::to_integer<unsigned>(flags[static_cast<std::size_t>(group / 8)]) >> group % 8 & 1) !=
        0;
    for (const Run& run : order.runs) {
      LaneTables lanes(family.tables);
      for (int lane = 0; lane < used; ++lane) {
        const std::int32_t scale = model[lane];
        if (scale < 0 || scale >= kNumScales) return kBadModel;
        lanes.add(
            family.table(std::clamp(scale + run.shift, 0, kNumScales - 1), model[kLanes + lane]),
            model[2 * kLanes + lane]);
      }
      if (paired && !lanes.has_pairs()) return kBadModel;
      if (!stream.get_run(lanes, run, paired, block)) return kTooShort;
    }
    if (!exceptions.put(group * area.rows * kLanes, area.rows, used, block)) return kBadException;
    sink.take(block_of(area, group, block, order));
  }
  if (!exceptions.is_empty()) return kBadException;
  return stream.is_at_end() ? nullptr : kBadEnd;
}

// A tile of 0 bytes. Its rows come in the order of those of its neighbours.
void decode_nothing(const TileArea& area, const PlaneOptions& options,
                    std::span<std::int16_t> block, BlockSink& sink) {
  const RowOrder order = order_rows(area, options.row_shifts);
  std::fill(block.begin(), block.end(), std::int16_t{0});
  for (std::int64_t group = 0; group < groups_of(area.columns); ++group) {
    sink.take(block_of(area, group, block.data(), order));
  }
}

// Tables that stand in front of the tile, or that both sides hold: lanes_of_group(group).
template <typename LanesOfGroup>
const char* decode_with_given(ByteReader in, const TileArea& area, LanesOfGroup lanes_of_group,
                              Exceptions exceptions, const Kernels& kernels, std::int16_t* block,
                              BlockSink& sink) {
  StreamReader stream(in, lanes_of(area.columns, 0), kernels);
  if (!stream.is_whole()) return kTooShort;
  const RowOrder order = order_rows(area.rows, {});
  for (std::int64_t group = 0; group < groups_of(area.columns); ++group) {
    const LaneTables lanes = lanes_of_group(group);
    if (!stream.get_run(lanes, order.runs.front(), lanes.has_pairs(), block)) return kTooShort;
    const int used = lanes_of(area.columns, group);
    if (!exceptions.put(group * area.rows * kLanes, area.rows, used, block)) return kBadException;
    sink.take(block_of(area, group, block, order));
  }
  if (!exceptions.is_empty()) return kBadException;
  return stream.is_at_end() ? nullptr : kBadEnd;
}

// Of column `column`, in the distributions that stand in front of a tile.
std::optional<Frequencies> shipped_table(std::span<const std::byte> distributions,
                                         std::int64_t column) {
  ShippedDistribution distribution;
  const std::size_t at = static_cast<std::size_t>(column) * sizeof distribution;
  std::memcpy(distribution.data(), distributions.data() + at, sizeof distribution);
  return to_table(distribution);
}

const char* decode_with_shipped(ByteReader in, const TileArea& area, const PlaneOptions& options,
                                std::int16_t* block, BlockSink& sink) {
  const auto distributions =
      in.get_bytes(static_cast<std::size_t>(area.columns) * sizeof(ShippedDistribution));
  if (!in.ok()) return kTooShort;
  for (std::int64_t column = 0; column < area.columns; ++column) {
    if (!shipped_table(distributions, column)) return kBadTable;
  }
  TableSet tables;  // of one group: a table's slots are 124 times as long as its distribution
  const auto lanes_of_group = [&](std::int64_t group) {
    tables = TableSet();
    LaneTables lanes(tables);
    for (int lane = 0; lane < lanes_of(area.columns, group); ++lane) {
      lanes.add(tables.add(*shipped_table(distributions, group * kLanes + lane)), 0);
    }
    return lanes;
  };
  return decode_with_given(in, area, lanes_of_group, Exceptions(in, 0), kernels_of(options.backend),
                           block, sink);
}

const char* decode_with_profile(ByteReader in, const TileArea& area, const PlaneOptions& options,
                                std::int16_t* block, BlockSink& sink) {
  const auto num_exceptions = in.get<std::uint32_t>();
  const Exceptions exceptions(in, num_exceptions);
  if (!in.ok()) return kTooShort;
  const ProfileTables& profile = *options.profile;
  const auto lanes_of_group = [&](std::int64_t group) {
    LaneTables lanes(profile.tables);
    for (int lane = 0; lane < lanes_of(area.columns, group); ++lane) {
      const auto column = static_cast<std::size_t>(area.column + group * kLanes + lane);
      lanes.add(profile.table_of_column[column], profile.centres[column]);
    }
    return lanes;
  };
  return decode_with_given(in, area, lanes_of_group, exceptions, kernels_of(options.backend), block,
                           sink);
}

}  // namespace

RowOrder order_rows(std::int64_t rows, std::span<const std::int8_t> shifts) {
  RowOrder order;
  if (shifts.empty()) {
    order.runs.push_back({0, rows, 0});
    return order;
  }
  // Counted, then placed.
  constexpr int kShifts = 256;
  std::int64_t begins[kShifts + 1] = {};
  const auto place_of = [&](std::int64_t row) {
    return static_cast<std::size_t>(shifts[static_cast<std::size_t>(row)] - INT8_MIN);
  };
  for (std::int64_t row = 0; row < rows; ++row) ++begins[place_of(row) + 1];
  for (int place = 0; place < kShifts; ++place) {
    const std::int64_t count = begins[place + 1];
    begins[place + 1] += begins[place];
    if (count > 0) order.runs.push_back({begins[place], begins[place + 1], place + INT8_MIN});
  }
  order.rows.resize(static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto line = static_cast<std::size_t>(begins[place_of(row)]++);
    order.rows[line] = static_cast<std::uint16_t>(row);
  }
  return order;
}

RowOrder order_rows(const TileArea& area, std::span<const std::int8_t> shifts_of_plane) {
  if (shifts_of_plane.empty()) return order_rows(area.rows, shifts_of_plane);
  return order_rows(area.rows, shifts_of_plane.subspan(static_cast<std::size_t>(area.row),
                                                       static_cast<std::size_t>(area.rows)));
}

const char* decode_tile(std::span<const std::byte> bytes, const TileArea& area, PlaneModel model,
                        const PlaneOptions& options, std::span<std::int16_t> block,
                        BlockSink& sink) {
  if (bytes.empty() && (model == PlaneModel::kClassFamily || model == PlaneModel::kPeaked)) {
    decode_nothing(area, options, block, sink);
    return nullptr;
  }
  const ByteReader in(bytes);
  switch (model) {
    case PlaneModel::kShipped:
      return decode_with_shipped(in, area, options, block.data(), sink);
    case PlaneModel::kProfile:
      return decode_with_profile(in, area, options, block.data(), sink);
    case PlaneModel::kPeaked:
      return decode_peaked_tile(bytes, area, options, block, sink);
    case PlaneModel::kClassFamily:
    case PlaneModel::kDigits:  // not one that decode_plane() lets pass
      break;
  }
  return decode_with_classes(in, area, options, block.data(), sink);
}

}  // namespace sluice::entropy
