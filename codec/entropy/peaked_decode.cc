// A tile of model 4: symbols group by group, then what lies beyond their tables' escapes.
#include <vector>

#include "codec/entropy/excess.h"
#include "codec/entropy/peaked_lanes.h"
#include "codec/entropy/peaked_tile.h"
#include "codec/entropy/stream_reader.h"
#include "codec/entropy/tile_faults.h"

namespace sluice::entropy {
namespace {

struct Header {
  FieldModel fields;
  std::span<const std::byte> pair_flags, excess;
};

// Leaves `in` at the stream.
Header read_header(ByteReader& in, std::int64_t groups) {
  Header header;
  header.fields.scale_table = in.get<std::uint8_t>();
  header.fields.scale_base = in.get<std::uint8_t>();
  header.fields.centre_table = in.get<std::uint8_t>();
  header.fields.centre_base = in.get<std::int16_t>();
  const auto excess_bytes = in.get<std::uint32_t>();
  header.pair_flags = in.get_bytes(static_cast<std::size_t>((groups + 7) / 8));
  header.excess = in.get_bytes(excess_bytes);
  return header;
}

bool is_known(const Header& header, std::int64_t groups) {
  const bool has_spare_flags =
      groups % 8 != 0 && std::to_integer<unsigned>(header.pair_flags.back()) >> groups % 8 != 0;
  return header.fields.scale_table < kNumScales && header.fields.centre_table < kNumScales &&
         !has_spare_flags;
}

// The models of all columns; null, or what is wrong.
const char* get_models(StreamReader& stream, const FieldModel& fields,
                       std::vector<ColumnModel>& models) {
  const auto columns = static_cast<std::int64_t>(models.size());
  for (std::int64_t group = 0; group < groups_of(columns); ++group) {
    const int lanes = lanes_of(columns, group);
    std::int16_t values[kNumFields][kLanes];
    for (int field = 0; field < kNumFields; ++field) {
      const auto tables = peaked_field_lanes(fields, field, lanes);
      if (!stream.get_run(tables, {0, 1, 0}, false, values[field])) {
        return to_text(TileFault::kTooShort);
      }
    }
    for (int lane = 0; lane < lanes; ++lane) {
      if (values[0][lane] < 0 || values[0][lane] >= kNumPeakedScales) {
        return to_text(TileFault::kBadModel);
      }
      models[static_cast<std::size_t>(group * kLanes + lane)] = {values[0][lane], values[1][lane],
                                                                 values[2][lane]};
    }
  }
  return nullptr;
}

// Moves the escapes of a run by their excess; false when that list is wrong.
bool move_escapes(const EscapeLanes& lanes, const Run& run, const Kernels& kernels,
                  ExcessReader& excess, std::int16_t* block) {
  std::int64_t row = run.begin;
  while ((row = kernels.find_escape(block, row, run.end, lanes)) < run.end) {
    for (int lane = 0; lane < kLanes; ++lane) {
      std::int16_t& symbol = block[row * kLanes + lane];
      const std::int32_t end = lanes.escape_of(lane, symbol);
      if (end == 0) continue;
      std::int32_t beyond = 0;
      if (!excess.get(beyond)) return false;
      symbol = static_cast<std::int16_t>(symbol + end * beyond);
    }
    ++row;
  }
  return true;
}

}  // namespace

const char* decode_peaked_tile(std::span<const std::byte> bytes, const TileArea& area,
                               const PlaneOptions& options, std::span<std::int16_t> block,
                               BlockSink& sink) {
  const std::int64_t groups = groups_of(area.columns);
  const Kernels& kernels = kernels_of(options.backend);
  ByteReader in(bytes);
  const Header header = read_header(in, groups);
  StreamReader stream(in, lanes_of(area.columns, 0), kernels);
  if (!stream.is_whole()) return to_text(TileFault::kTooShort);
  if (!is_known(header, groups)) return to_text(TileFault::kBadModel);
  std::vector<ColumnModel> models(static_cast<std::size_t>(area.columns));
  if (const char* wrong = get_models(stream, header.fields, models); wrong != nullptr) return wrong;
  ExcessReader excess(header.excess.data(), header.excess.size());
  const RowOrder order = order_rows(area, options.row_shifts);
  for (std::int64_t group = 0; group < groups; ++group) {
    const auto flags =
        std::to_integer<unsigned>(header.pair_flags[static_cast<std::size_t>(group / 8)]);
    const bool paired = (flags >> group % 8 & 1) != 0;
    const auto of_group =
        std::span(models).subspan(static_cast<std::size_t>(group * kLanes),
                                  static_cast<std::size_t>(lanes_of(area.columns, group)));
    std::int16_t* symbols = sink.room(area.column + group * kLanes, area.rows);
    if (symbols == nullptr) symbols = block.data();
    for (const Run& run : order.runs) {
      const PeakedLanes lanes(of_group, run.shift);
      if (paired && !lanes.tables.has_pairs()) return to_text(TileFault::kBadModel);
      if (!stream.get_run(lanes.tables, run, paired, symbols)) {
        return to_text(TileFault::kTooShort);
      }
      if (!move_escapes(lanes.escapes, run, kernels, excess, symbols)) {
        return to_text(TileFault::kBadException);
      }
    }
    sink.take(block_of(area, group, symbols, order));
  }
  if (!excess.is_at_end()) return to_text(TileFault::kBadException);
  return stream.is_at_end() ? nullptr : to_text(TileFault::kBadEnd);
}

}  // namespace sluice::entropy
