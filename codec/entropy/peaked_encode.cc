// A tile of model 4 from its symbols: choose tables, note what lies beyond escapes, run the coder
// from the end.
#include <algorithm>
#include <vector>

#include "codec/entropy/excess.h"
#include "codec/entropy/peaked_lanes.h"
#include "codec/entropy/peaked_search.h"
#include "codec/entropy/peaked_tile.h"
#include "codec/entropy/tile_writer.h"

namespace sluice::entropy {
namespace {

// Groups code two rows per step where that costs at most so many thousandths of their bits.
constexpr std::int64_t kMaxPairLoss = 7;

class PeakedTileEncoder {
 public:
  PeakedTileEncoder(const SymbolMatrix& matrix, const TileArea& area, const PlaneOptions& options,
                    EncodeScratch& scratch)
      : area_(area),
        order_(order_rows(area, options.row_shifts)),
        blocks_(matrix, area, order_, scratch.blocks),
        room_(scratch.room),
        kernels_(kernels_of(options.backend)) {}
  [[nodiscard]] bool is_zero() const { return blocks_.is_zero(); }

  std::int64_t encode(ByteWriter& out) {
    choose_models();
    for (std::int64_t group = 0; group < num_groups(); ++group) take_escapes(group);
    out.put(static_cast<std::uint8_t>(fields_.scale_table));
    out.put(static_cast<std::uint8_t>(fields_.scale_base));
    out.put(static_cast<std::uint8_t>(fields_.centre_table));
    out.put(fields_.centre_base);
    out.put(static_cast<std::uint32_t>(excess_.bytes().size()));
    put_flags(paired_, out);
    out.put_bytes(excess_.bytes());
    return put_stream(out);
  }

 private:
  [[nodiscard]] std::int64_t num_groups() const { return groups_of(area_.columns); }
  [[nodiscard]] std::span<const ColumnModel> models(std::int64_t group) const {
    return std::span(models_).subspan(static_cast<std::size_t>(group * kLanes),
                                      static_cast<std::size_t>(lanes_of(area_.columns, group)));
  }

  void choose_models() {
    PeakedSearch search(order_.runs, area_.rows, kernels_);
    std::vector<std::int64_t> costs;  // [group]
    ColumnModel model{kNumPeakedScales / 2, 0, 0};
    for (std::int64_t group = 0; group < num_groups(); ++group) {
      search.begin_group(blocks_.at(group, 0));
      std::int64_t& cost = costs.emplace_back(0);
      for (int lane = 0; lane < lanes_of(area_.columns, group); ++lane) {
        const ChosenModel chosen = search.run(lane, model);
        models_.push_back(chosen.model);
        cost += chosen.cost;
        if (chosen.model.scale > 0) model = chosen.model;
      }
    }
    fit_all_fields();
    for (std::int64_t group = 0; group < num_groups(); ++group) {
      paired_.push_back(pays_to_pair(group, costs[static_cast<std::size_t>(group)]));
    }
  }

  void fit_all_fields() {
    const auto fit = [](std::vector<ColumnModel>& models) {
      return fit_fields(models.data(), static_cast<std::int32_t>(models.size()),
                        class_family().facts());
    };
    const std::vector<ColumnModel> wanted = models_;
    fields_ = fit(models_);
    for (std::size_t column = 0; column < models_.size(); ++column) {
      // A constant that no table of centres reaches is not one any more.
      if (models_[column].centre != wanted[column].centre && models_[column].scale == 0) {
        models_[column].scale = kNumPeakedScales - 1;
      }
    }
    std::vector<ColumnModel> moved = models_;
    const FieldModel again = fit(moved);
    fields_.scale_table = again.scale_table;
    fields_.scale_base = again.scale_base;
  }

  [[nodiscard]] bool pays_to_pair(std::int64_t group, std::int64_t cost) const {
    const PeakedFamily& family = peaked_family();
    std::int64_t loss = 0;
    for (const Run& run : order_.runs) {
      if (!PeakedLanes(models(group), run.shift).tables.has_pairs()) return false;
      for (const ColumnModel& model : models(group)) {
        const int table = family.table(peaked_scale(model.scale, run.shift), model.kind);
        loss += (run.end - run.begin) / 2 * family.pair_loss[static_cast<std::size_t>(table)];
      }
    }
    return area_.rows >= 2 && loss * 1000 <= cost * kMaxPairLoss;
  }

  // Symbols beyond an escape become that escape, and go to the list in the order of decoding.
  void take_escapes(std::int64_t group) {
    std::int16_t* const block = blocks_.at(group, 0);
    for (const Run& run : order_.runs) {
      const PeakedLanes lanes(models(group), run.shift);
      std::int64_t row = run.begin;
      while ((row = kernels_.find_escape(block, row, run.end, lanes.escapes)) < run.end) {
        for (int lane = 0; lane < kLanes; ++lane) {
          std::int16_t& symbol = block[row * kLanes + lane];
          const std::int32_t end = lanes.escapes.escape_of(lane, symbol);
          if (end == 0) continue;
          const std::int32_t escape =
              end < 0 ? lanes.escapes.lows[lane] : lanes.escapes.highs[lane];
          const auto relative = static_cast<std::int16_t>(symbol - lanes.escapes.centres[lane]);
          excess_.put(end * (relative - escape));
          symbol = static_cast<std::int16_t>(lanes.escapes.centres[lane] + escape);
        }
        ++row;
      }
    }
  }

  std::int64_t put_stream(ByteWriter& out) {
    StreamWriter stream(num_groups() * (area_.rows + kNumFields) * kLanes, kernels_, room_);
    for (std::int64_t group = num_groups() - 1; group >= 0; --group) {
      for (auto run = order_.runs.rbegin(); run != order_.runs.rend(); ++run) {
        stream.put_run(PeakedLanes(models(group), run->shift).tables, *run,
                       paired_[static_cast<std::size_t>(group)], blocks_.at(group, 0));
      }
    }
    const std::int64_t symbol_bytes = stream.word_bytes();
    for (std::int64_t group = num_groups() - 1; group >= 0; --group) {
      const auto values = field_values(models(group));
      for (int field = kNumFields - 1; field >= 0; --field) {
        stream.put_run(peaked_field_lanes(fields_, field, lanes_of(area_.columns, group)),
                       {0, 1, 0}, false, values.of_field[field]);
      }
    }
    stream.append_to(out, lanes_of(area_.columns, 0));
    return symbol_bytes;
  }

  TileArea area_;
  RowOrder order_;
  Blocks blocks_;
  std::vector<std::byte>& room_;
  const Kernels& kernels_;
  std::vector<ColumnModel> models_;  // [column]
  std::vector<bool> paired_;         // [group]
  FieldModel fields_;
  ExcessWriter excess_;
};

}  // namespace

std::int64_t encode_peaked_tile(const SymbolMatrix& matrix, const TileArea& area,
                                const PlaneOptions& options, EncodeScratch& scratch,
                                ByteWriter& out) {
  PeakedTileEncoder encoder(matrix, area, options, scratch);
  return encoder.is_zero() ? 0 : encoder.encode(out);
}

}  // namespace sluice::entropy
