// A tile's symbols to bytes: choose tables, take exceptions out, run the coder from the end.
#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "codec/entropy/column_counts.h"
#include "codec/entropy/peaked_tile.h"
#include "codec/entropy/shipped_tables.h"
#include "codec/entropy/tile_writer.h"

namespace sluice::entropy {
namespace {

class ClassTileEncoder {
 public:
  ClassTileEncoder(const SymbolMatrix& matrix, const TileArea& area, const PlaneOptions& options,
                   EncodeScratch& scratch)
      : area_(area),
        order_(order_rows(area, options.row_shifts)),
        blocks_(matrix, area, order_, scratch.blocks),
        scratch_(scratch),
        kernels_(kernels_of(options.backend)) {}

  // All symbols are 0: such a tile may be left empty.
  [[nodiscard]] bool is_zero() const { return blocks_.is_zero(); }

  std::int64_t encode(ByteWriter& out) {
    choose_models();
    find_exceptions();
    out.put(static_cast<std::uint8_t>(fields_.scale_table));
    out.put(static_cast<std::uint8_t>(fields_.scale_base));
    out.put(static_cast<std::uint8_t>(fields_.centre_table));
    out.put(fields_.centre_base);
    out.put(static_cast<std::uint32_t>(exceptions_.size()));
    put_flags(paired_, out);
    put_exceptions(std::move(exceptions_), out);
    return put_stream(out);
  }

 private:
  void choose_models() {
    const Run& longest = *std::max_element(
        order_.runs.begin(), order_.runs.end(),
        [](const Run& a, const Run& b) { return a.end - a.begin < b.end - b.begin; });
    const std::int64_t rows = longest.end - longest.begin;
    const FamilyFacts family = class_family().facts();
    ColumnCounts counts[kLanes];
    for (std::int64_t group = 0; group < num_groups(); ++group) {
      const int lanes = lanes_of(area_.columns, group);
      count_columns(blocks_.at(group, longest.begin), rows, lanes, kernels_, counts);
      std::int64_t cost = 0, loss = 0;
      for (int lane = 0; lane < lanes; ++lane) {
        ChosenModel chosen = ModelSearch(counts[lane], family, kernels_.weigh).run(rows);
        cost += chosen.cost;
        loss += rows / 2 * class_family().pair_loss[table_of(chosen.model, 0)];
        chosen.model.scale = static_cast<std::int16_t>(
            std::clamp(chosen.model.scale - longest.shift, 0, kNumScales - 1));
        models_.push_back(chosen.model);
        extents_.push_back({counts[lane].low, counts[lane].high});
      }
      paired_.push_back(pays_to_pair(rows, loss, cost) && has_pairs(group));
    }
    fields_ = fit_fields(models_.data(), static_cast<std::int32_t>(models_.size()), family);
  }

  [[nodiscard]] static std::size_t table_of(const ColumnModel& model, std::int32_t shift) {
    const std::int32_t scale = std::clamp<std::int32_t>(model.scale + shift, 0, kNumScales - 1);
    return static_cast<std::size_t>(class_family().table(scale, model.kind));
  }
  [[nodiscard]] bool has_pairs(std::int64_t group) const {
    return std::all_of(order_.runs.begin(), order_.runs.end(),
                       [&](const Run& run) { return lane_tables(group, run).has_pairs(); });
  }
  [[nodiscard]] std::int64_t num_groups() const { return groups_of(area_.columns); }

  [[nodiscard]] LaneTables lane_tables(std::int64_t group, const Run& run) const {
    LaneTables lanes(class_family().tables);
    for (int lane = 0; lane < lanes_of(area_.columns, group); ++lane) {
      const ColumnModel& model = models_[static_cast<std::size_t>(group * kLanes + lane)];
      lanes.add(static_cast<int>(table_of(model, run.shift)), model.centre);
    }
    return lanes;
  }

  void find_exceptions() {
    for (std::int64_t group = 0; group < num_groups(); ++group) {
      for (int lane = 0; lane < lanes_of(area_.columns, group); ++lane) {
        const auto column = static_cast<std::size_t>(group * kLanes + lane);
        const ColumnModel& model = models_[column];
        for (const Run& run : order_.runs) {
          const Frequencies& table =
              class_family().tables.frequencies(static_cast<int>(table_of(model, run.shift)));
          // Tables of the family have no gaps. The extents are those of one run.
          const bool has_all = order_.runs.size() == 1 &&
                               extents_[column].low >= model.centre + table.first &&
                               extents_[column].high <= model.centre + table.last();
          if (has_all) continue;
          take_exceptions(blocks_, group, lane, table, model.centre, run, exceptions_);
        }
      }
    }
  }

  std::int64_t put_stream(ByteWriter& out) {
    StreamWriter stream((num_groups() * (area_.rows + kNumFields)) * kLanes, kernels_,
                        scratch_.room);
    for (std::int64_t group = num_groups() - 1; group >= 0; --group) {
      for (auto run = order_.runs.rbegin(); run != order_.runs.rend(); ++run) {
        stream.put_run(lane_tables(group, *run), *run, paired_[static_cast<std::size_t>(group)],
                       blocks_.at(group, 0));
      }
    }
    const std::int64_t symbol_bytes = stream.word_bytes();
    for (std::int64_t group = num_groups() - 1; group >= 0; --group) put_fields(group, stream);
    stream.append_to(out, lanes_of(area_.columns, 0));
    return symbol_bytes;
  }

  void put_fields(std::int64_t group, StreamWriter& stream) const {
    const int lanes = lanes_of(area_.columns, group);
    const auto values = field_values(std::span(models_).subspan(
        static_cast<std::size_t>(group * kLanes), static_cast<std::size_t>(lanes)));
    for (int field = kNumFields - 1; field >= 0; --field) {
      stream.put_run(field_lanes(fields_, field, lanes), {0, 1, 0}, false, values.of_field[field]);
    }
  }

  TileArea area_;
  RowOrder order_;
  Blocks blocks_;
  EncodeScratch& scratch_;
  const Kernels& kernels_;
  std::vector<ColumnModel> models_;
  struct Extent {
    std::int32_t low, high;
  };
  std::vector<Extent> extents_;  // [column]
  std::vector<bool> paired_;
  FieldModel fields_;
  std::vector<Exception> exceptions_;
};

// Tiles of given tables, one per column: shipped in front of the tile, or held by both sides.
std::int64_t put_given(const TableSet& tables, std::span<const int> table_of_column,
                       std::span<const std::int16_t> centres, Blocks& blocks, const TileArea& area,
                       const Kernels& kernels, std::vector<std::byte>& room, ByteWriter& out) {
  StreamWriter stream(groups_of(area.columns) * area.rows * kLanes, kernels, room);
  for (std::int64_t group = groups_of(area.columns) - 1; group >= 0; --group) {
    LaneTables lanes(tables);
    for (int lane = 0; lane < lanes_of(area.columns, group); ++lane) {
      const auto column = static_cast<std::size_t>(group * kLanes + lane);
      lanes.add(table_of_column[column], centres[column]);
    }
    stream.put_run(lanes, {0, area.rows, 0}, lanes.has_pairs(), blocks.at(group, 0));
  }
  stream.append_to(out, lanes_of(area.columns, 0));
  return stream.word_bytes();
}

std::int64_t encode_with_shipped(const SymbolMatrix& matrix, const TileArea& area,
                                 const PlaneOptions& options, EncodeScratch& scratch,
                                 ByteWriter& out) {
  TableSet tables;
  std::vector<int> table_of_column;
  Blocks blocks(matrix, area, order_rows(area.rows, {}), scratch.blocks);
  for (std::int64_t column = 0; column < area.columns; ++column) {
    const ShippedDistribution distribution =
        measure_distribution(blocks.at(column / kLanes, 0) + column % kLanes, kLanes, area.rows);
    for (const std::uint16_t entry : distribution) out.put(entry);
    const auto table = to_table(distribution);
    SLUICE_ASSERT(table.has_value(), "a measured distribution is one");
    table_of_column.push_back(tables.add(*table));
  }
  const std::vector<std::int16_t> centres(table_of_column.size());
  return put_given(tables, table_of_column, centres, blocks, area, kernels_of(options.backend),
                   scratch.room, out);
}

std::int64_t encode_with_profile(const SymbolMatrix& matrix, const TileArea& area,
                                 const PlaneOptions& options, EncodeScratch& scratch,
                                 ByteWriter& out) {
  const auto first = static_cast<std::size_t>(area.column);
  const auto count = static_cast<std::size_t>(area.columns);
  const auto tables = std::span(options.profile->table_of_column).subspan(first, count);
  const auto centres = std::span(options.profile->centres).subspan(first, count);
  Blocks blocks(matrix, area, order_rows(area.rows, {}), scratch.blocks);
  std::vector<Exception> exceptions;
  for (std::size_t column = 0; column < count; ++column) {
    take_exceptions(blocks, static_cast<std::int64_t>(column) / kLanes,
                    static_cast<int>(column % kLanes),
                    options.profile->tables.frequencies(tables[column]), centres[column],
                    {0, area.rows, 0}, exceptions);
  }
  out.put(static_cast<std::uint32_t>(exceptions.size()));
  put_exceptions(std::move(exceptions), out);
  return put_given(options.profile->tables, tables, centres, blocks, area,
                   kernels_of(options.backend), scratch.room, out);
}

}  // namespace

std::int64_t encode_tile(const SymbolMatrix& matrix, const TileArea& area,
                         const PlaneOptions& options, EncodeScratch& scratch, ByteWriter& out) {
  switch (options.model) {
    case PlaneModel::kShipped:
      return encode_with_shipped(matrix, area, options, scratch, out);
    case PlaneModel::kProfile:
      return encode_with_profile(matrix, area, options, scratch, out);
    case PlaneModel::kPeaked:
      return encode_peaked_tile(matrix, area, options, scratch, out);
    case PlaneModel::kClassFamily:
    case PlaneModel::kDigits:  // encode_digits() is for these
      break;
  }
  ClassTileEncoder encoder(matrix, area, options, scratch);
  return options.prefers_tall_tiles && encoder.is_zero() ? 0 : encoder.encode(out);
}

}  // namespace sluice::entropy
