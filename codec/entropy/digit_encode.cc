// A digit tile's bytes from the coarse symbols and their digits.
// Surprise: a digit and its context are one place of a small table (3 * context + digit + 1), so
// that the loops that encode symbols encode places.
#include <algorithm>
#include <limits>
#include <vector>

#include "codec/entropy/digit_lanes.h"
#include "codec/entropy/tile_writer.h"

namespace sluice::entropy {
namespace {

class DigitTileEncoder {
 public:
  DigitTileEncoder(const SymbolMatrix& coarse, std::span<const std::int8_t> digits,
                   const TileArea& area, const PlaneOptions& options, EncodeScratch& scratch)
      : area_(area),
        order_(order_rows(area, options.row_shifts)),
        places_(scratch.blocks),
        room_(scratch.room),
        kernels_(kernels_of(options.backend)) {
    find_places(coarse, digits);
  }
  [[nodiscard]] bool is_zero() const { return is_zero_; }

  std::int64_t encode(ByteWriter& out) {
    choose_models();
    fit_fields();
    out.put(fields_.scale_table);
    out.put(fields_.scale_base);
    StreamWriter stream(groups_of(area_.columns) * (area_.rows + kNumDigitFields) * kLanes,
                        kernels_, room_);
    for (std::int64_t group = groups_of(area_.columns) - 1; group >= 0; --group) {
      for (auto run = order_.runs.rbegin(); run != order_.runs.rend(); ++run) {
        put_run(group, *run, stream);
      }
    }
    const std::int64_t digit_bytes = stream.word_bytes();
    for (std::int64_t group = groups_of(area_.columns) - 1; group >= 0; --group) {
      put_fields(group, stream);
    }
    stream.append_to(out, lanes_of(area_.columns, 0));
    return digit_bytes;
  }

 private:
  [[nodiscard]] std::int16_t* places(std::int64_t group, std::int64_t line) const {
    return places_.data() + (group * area_.rows + line) * kLanes;
  }
  [[nodiscard]] std::span<const DigitModel> models(std::int64_t group) const {
    return std::span(models_).subspan(static_cast<std::size_t>(group * kLanes),
                                      static_cast<std::size_t>(lanes_of(area_.columns, group)));
  }

  void find_places(const SymbolMatrix& coarse, std::span<const std::int8_t> digits) {
    places_.assign(static_cast<std::size_t>(groups_of(area_.columns) * area_.rows * kLanes), 0);
    bool is_zero = true;
    for (std::int64_t line = 0; line < area_.rows; ++line) {
      const std::int64_t row =
          area_.row + (order_.rows.empty() ? line : order_.rows[static_cast<std::size_t>(line)]);
      const std::int64_t at = row * coarse.columns + area_.column;
      const std::int16_t* const symbols = coarse.symbols.data() + at;
      const std::int8_t* const of_row = digits.data() + at;
      for (std::int64_t column = 0; column < area_.columns; ++column) {
        const std::int32_t symbol = symbols[column], digit = of_row[column];
        is_zero = is_zero && digit == 0;
        places(column / kLanes, line)[column % kLanes] = static_cast<std::int16_t>(
            3 * digit_context(symbol) + seen_from_zero(symbol, digit) + 1);
      }
    }
    is_zero_ = is_zero;
  }

  // How often each place stands in the rows of each run: [run][lane].
  struct LaneCounts {
    std::int32_t of_place[kNumDigitPlaces]{};
  };
  void count(std::int64_t group, std::vector<LaneCounts>& counts) const {
    counts.assign(order_.runs.size() * kLanes, {});
    for (std::size_t run = 0; run < order_.runs.size(); ++run) {
      for (std::int64_t line = order_.runs[run].begin; line < order_.runs[run].end; ++line) {
        const std::int16_t* const row = places(group, line);
        for (int lane = 0; lane < kLanes; ++lane) {
          ++counts[run * kLanes + static_cast<std::size_t>(lane)].of_place[row[lane]];
        }
      }
    }
  }

  [[nodiscard]] std::int64_t cost(const std::vector<LaneCounts>& counts, int lane,
                                  DigitModel model) const {
    std::int64_t cost = 0;
    for (std::size_t run = 0; run < order_.runs.size(); ++run) {
      const std::int32_t scale = digit_scale(model.scale, order_.runs[run].shift);
      const auto& costs = digit_family().costs[model.shape][scale];
      const auto& of_place = counts[run * kLanes + static_cast<std::size_t>(lane)].of_place;
      for (int place = 0; place < kNumDigitPlaces; ++place) {
        cost += std::int64_t{of_place[place]} * costs[place];
      }
    }
    return cost;
  }

  void choose_models() {
    std::vector<LaneCounts> counts;
    DigitModel model{kNumDigitScales / 2, 0};
    for (std::int64_t group = 0; group < groups_of(area_.columns); ++group) {
      count(group, counts);
      for (int lane = 0; lane < lanes_of(area_.columns, group); ++lane) {
        model = best_model(counts, lane, model);  // neighbours are alike: a good place to begin
        models_.push_back(model);
      }
    }
  }

  // Down the cost in scale at one shape, then at the others from there.
  [[nodiscard]] DigitModel best_model(const std::vector<LaneCounts>& counts, int lane,
                                      DigitModel start) const {
    DigitModel best = start;
    std::int64_t best_cost = cost(counts, lane, best);
    const auto try_model = [&](DigitModel model) {
      const std::int64_t its = cost(counts, lane, model);
      if (its >= best_cost) return false;
      best = model, best_cost = its;
      return true;
    };
    const auto descend = [&] {
      for (const std::int16_t stride : {std::int16_t{4}, std::int16_t{1}}) {
        for (const int sign : {1, -1}) {
          bool is_better = true;
          while (is_better) {
            const int scale = best.scale + sign * stride;
            is_better = scale >= lowest_scale() && scale <= highest_scale() &&
                        try_model({static_cast<std::int16_t>(scale), best.shape});
          }
        }
      }
    };
    descend();
    const DigitModel middle = best;
    for (std::int16_t shape = 0; shape < kNumDigitShapes; ++shape) {
      for (int step = -1; step <= 1; ++step) {
        const auto scale = static_cast<std::int16_t>(middle.scale + step);
        if (shape != middle.shape) try_model({scale, shape});
      }
    }
    descend();
    return best;
  }
  // Beyond these, no row's table changes any more.
  [[nodiscard]] std::int32_t lowest_scale() const { return -order_.runs.back().shift; }
  [[nodiscard]] std::int32_t highest_scale() const {
    return kNumDigitScales - 1 - order_.runs.front().shift;
  }

  // The base and the narrowest table that have all scales; scales that none reaches move nearer.
  void fit_fields() {
    const ClassFamily& family = class_family();
    std::int64_t sum = 0;
    for (const DigitModel& model : models_) sum += model.scale;
    const auto count = static_cast<std::int64_t>(models_.size());
    const std::int64_t mean = (2 * sum + count) / (2 * count);
    fields_.scale_base = static_cast<std::int8_t>(std::clamp<std::int64_t>(mean, -128, 127));
    std::int64_t best_cost = std::numeric_limits<std::int64_t>::max();
    fields_.scale_table = kNumScales - 1;
    for (std::int32_t scale = 0; scale < kNumScales; ++scale) {
      const int table = family.table(scale, kFieldScaleKind);
      const Frequencies& frequencies = family.tables.frequencies(table);
      std::int64_t cost = 0;
      const bool has_all = std::all_of(models_.begin(), models_.end(), [&](DigitModel model) {
        const std::int32_t value = model.scale - fields_.scale_base;
        if (!frequencies.has(value)) return false;
        cost += family.costs(table)[value - kCostFirst];
        return true;
      });
      if (!has_all || cost >= best_cost) continue;
      best_cost = cost;
      fields_.scale_table = static_cast<std::uint8_t>(scale);
    }
    const Frequencies& table =
        family.tables.frequencies(family.table(fields_.scale_table, kFieldScaleKind));
    for (DigitModel& model : models_) {
      model.scale = static_cast<std::int16_t>(std::clamp<std::int32_t>(
          model.scale, fields_.scale_base + table.first, fields_.scale_base + table.last()));
    }
  }

  void put_run(std::int64_t group, const Run& run, StreamWriter& stream) const {
    const DigitFamily& family = digit_family();
    EncodingSymbol symbols[kLanes * kNumDigitPlaces];
    EncodeLanes lanes;
    lanes.symbols = symbols;
    for (const DigitModel& model : models(group)) {
      const auto& of_scale = family.symbols[model.shape][digit_scale(model.scale, run.shift)];
      std::copy(std::begin(of_scale), std::end(of_scale), symbols + lanes.used * kNumDigitPlaces);
      lanes.offsets[lanes.used] = lanes.used * kNumDigitPlaces;
      ++lanes.used;
    }
    for (int lane = lanes.used; lane < kLanes; ++lane) {
      // Unused lanes hold place 0; the identity keeps their state.
      symbols[lane * kNumDigitPlaces] = encoding_symbol(kTableSlots, 0);
      lanes.offsets[lane] = lane * kNumDigitPlaces;
    }
    stream.put_rows(lanes, run.end - run.begin, places(group, run.begin));
  }

  void put_fields(std::int64_t group, StreamWriter& stream) const {
    std::int16_t values[kNumDigitFields][kLanes]{};
    const auto of_group = models(group);
    const int lanes = static_cast<int>(of_group.size());
    for (int lane = 0; lane < lanes; ++lane) {
      values[0][lane] = of_group[static_cast<std::size_t>(lane)].scale;
      values[1][lane] = of_group[static_cast<std::size_t>(lane)].shape;
    }
    for (int field = kNumDigitFields - 1; field >= 0; --field) {
      stream.put_run(digit_field_lanes(fields_, field, lanes), {0, 1, 0}, false, values[field]);
    }
  }

  TileArea area_;
  RowOrder order_;
  std::vector<std::int16_t>& places_;  // [group][row in coding order][kLanes]
  std::vector<std::byte>& room_;
  const Kernels& kernels_;
  bool is_zero_ = true;
  std::vector<DigitModel> models_;  // [column]
  DigitFields fields_;
};

}  // namespace

std::int64_t encode_digit_tile(const SymbolMatrix& coarse, std::span<const std::int8_t> digits,
                               const TileArea& area, const PlaneOptions& options,
                               EncodeScratch& scratch, ByteWriter& out) {
  DigitTileEncoder encoder(coarse, digits, area, options, scratch);
  return encoder.is_zero() ? 0 : encoder.encode(out);
}

}  // namespace sluice::entropy
