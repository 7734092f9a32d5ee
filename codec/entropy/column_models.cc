#include "codec/entropy/column_models.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

namespace sluice::entropy {
namespace {

// Centres stay where a symbol relative to them fits 16 bits.
constexpr std::int32_t kMaxCentre = 32767 - 512;
// More rows outside the window than one in so many: the column is wide, and its moments decide.
constexpr std::int64_t kMaxOutside = 16;

// The widest scale that is not above sigma.
std::int32_t scale_near(double sigma) {
  const auto& sigmas = class_family().sigma;
  const auto above = std::upper_bound(std::begin(sigmas), std::end(sigmas), sigma);
  return static_cast<std::int32_t>(std::max<std::ptrdiff_t>(1, above - std::begin(sigmas)) - 1);
}

// Kinds are 4 * shape + phase (the fractional mean), and the two one-sided ones.
constexpr std::int32_t kNumPhases = 4, kFirstOneSided = 16;
// So near to a normal table's flatness both flatter and more peaked shapes are tried.
constexpr double kFlatnessMargin = 0.01;

class Search {
 public:
  Search(const ColumnCounts& column, const Kernels& kernels)
      : column_(column), kernels_(kernels), family_(class_family()) {
    quarters_ = static_cast<std::int32_t>(std::floor(kNumPhases * column.inner.mean));
    floor_ = static_cast<std::int32_t>(std::floor(column.inner.mean));
  }

  ChosenModel run() {
    find_scale();
    const std::int32_t middle = best_.model.scale;
    excess_ = column_.flatness -
              family_.flatness[static_cast<std::size_t>(family_.table(middle, best_.model.kind))];
    const auto* const most = std::max_element(column_.counts, column_.counts + column_.span);
    is_one_sided_ = column_.counts + (column_.low - column_.start) == most ||
                    column_.counts + (column_.high - column_.start) == most;
    for (std::int32_t scale = std::max(0, middle - 1);
         scale <= std::min(kNumScales - 1, middle + 1); ++scale) {
      try_other_shapes(scale);
    }
    return best_;
  }

 private:
  // The normal tables from the column's sigma on, upwards and downwards as long as they get better.
  void find_scale() {
    const std::int32_t first = scale_near(column_.inner.sigma);
    try_shape(first, 0);
    std::int32_t scale = first + 1;
    while (scale < kNumScales && try_shape(scale, 0)) ++scale;
    if (scale > first + 1) return;
    scale = first - 1;
    while (scale >= 0 && try_shape(scale, 0)) --scale;
  }

  // Peaked shapes for columns that are more peaked than the best normal table, sines for flatter
  // ones, one-sided tables where the most frequent symbol is an end.
  void try_other_shapes(std::int32_t scale) {
    if (excess_ < kFlatnessMargin) try_shape(scale, 1);
    if (excess_ > -kFlatnessMargin) {
      try_shape(scale, 2);
      try_shape(scale, 3);
    }
    for (std::int32_t kind = kFirstOneSided; kind < kNumKinds; ++kind) {
      if (!is_one_sided_ || !family_.own[scale][kind]) continue;
      const auto table = static_cast<std::size_t>(family_.table(scale, kind));
      const double place = std::floor(column_.inner.mean - family_.means[table]);
      try_model(scale, kind, static_cast<std::int32_t>(place));
      try_model(scale, kind, static_cast<std::int32_t>(place) + 1);
    }
  }

  // At the quarters below and above the mean, or the integers where a wide table has no quarters.
  // False when neither is better than what there is.
  bool try_shape(std::int32_t scale, std::int32_t shape) {
    const std::int32_t plain = shape * kNumPhases;
    if (!family_.own[scale][plain]) return false;
    bool is_better = false;
    for (std::int32_t step = 0; step < 2; ++step) {
      const std::int32_t phase = (quarters_ + step) & (kNumPhases - 1);
      const std::int32_t whole = (quarters_ + step - phase) / kNumPhases;
      const bool is_own = family_.own[scale][plain + phase];
      // The last phase is the quarter before a whole.
      const std::int32_t centre =
          !is_own ? floor_ + step : whole + (phase == kNumPhases - 1 ? 1 : 0);
      is_better |= try_model(scale, is_own ? plain + phase : plain, centre);
    }
    return is_better;
  }

  bool try_model(std::int32_t scale, std::int32_t kind, std::int32_t place) {
    const int table = family_.table(scale, kind);
    const std::int32_t centre = std::clamp(place, -kMaxCentre, kMaxCentre);
    const std::int32_t first = column_.start - centre - kCostFirst;
    if (first < 0 || first > kCostSpan - kCostWindow) return false;
    const std::int64_t cost =
        family_.costs(family_.kind_table)[kind - kCostFirst] +
        std::int64_t{kernels_.weigh(column_.counts, family_.costs(table) + first, column_.span)} +
        std::int64_t{column_.outside} * (kExceptionCost + kTableBits * kCostPerBit);
    if (cost >= best_.cost) return false;
    best_ = {{static_cast<std::int16_t>(scale), static_cast<std::int16_t>(kind),
              static_cast<std::int16_t>(centre)},
             cost};
    return true;
  }

  const ColumnCounts& column_;
  const Kernels& kernels_;
  const ClassFamily& family_;
  std::int32_t quarters_, floor_;
  double excess_ = 0;  // of the column's flatness over that of the best normal table
  bool is_one_sided_ = false;
  ChosenModel best_{.model = {}, .cost = INT64_MAX};
};

// The normal table of a wide column: by its moments alone.
ChosenModel by_moments(const ColumnCounts& column, std::int64_t rows) {
  const std::int32_t scale = std::min(kNumScales - 1, scale_near(column.inner.sigma) + 1);
  const auto centre = static_cast<std::int32_t>(std::floor(column.inner.mean + 0.5));
  const ColumnModel model{static_cast<std::int16_t>(scale), 0,
                          static_cast<std::int16_t>(std::clamp(centre, -kMaxCentre, kMaxCentre))};
  return {model, rows * kTableBits * kCostPerBit};
}

struct Fit {
  std::int16_t scale = 0;
  bool has_all = false;
};

// The scale of the table of `kind` that codes `values` around `base` in the fewest bits, among
// those that have all of them; else the widest.
Fit fit_table(const std::vector<std::int32_t>& values, std::int32_t base, std::int32_t kind) {
  std::int32_t counts[kCostSpan]{};
  std::int32_t low = values.front() - base, high = low;
  for (const std::int32_t value : values) {
    low = std::min(low, value - base);
    high = std::max(high, value - base);
    ++counts[std::clamp(value - base - kCostFirst, 0, kCostSpan - 1)];
  }
  const ClassFamily& family = class_family();
  Fit best{kNumScales - 1, false};
  std::int64_t best_cost = INT64_MAX;
  for (std::int32_t scale = 0; scale < kNumScales; ++scale) {
    const int table = family.table(scale, kind);
    const Frequencies& frequencies = family.tables.frequencies(table);
    if (low < frequencies.first || high > frequencies.last()) continue;
    std::int64_t cost = 0;
    for (std::int32_t i = std::max(0, low - kCostFirst); i < kCostSpan && i <= high - kCostFirst;
         ++i) {
      cost += std::int64_t{counts[i]} * family.costs(table)[i];
    }
    if (cost < best_cost) {
      best = {static_cast<std::int16_t>(scale), true};
      best_cost = cost;
    }
  }
  return best;
}

// To nearest, halves up.
std::int32_t rounded_mean(const std::vector<std::int32_t>& values) {
  double sum = 0;
  for (const std::int32_t value : values) sum += value;
  return static_cast<std::int32_t>(std::floor(sum / static_cast<double>(values.size()) + 0.5));
}

}  // namespace

ChosenModel choose_model(const ColumnCounts& column, std::int64_t rows, const Kernels& kernels) {
  if (column.outside * kMaxOutside > rows) return by_moments(column, rows);
  const ChosenModel found = Search(column, kernels).run();
  return found.cost < INT64_MAX ? found : by_moments(column, rows);
}

FieldModel fit_fields(std::vector<ColumnModel>& columns) {
  std::vector<std::int32_t> scales, centres;
  for (const ColumnModel& column : columns) {
    scales.push_back(column.scale);
    centres.push_back(column.centre);
  }
  FieldModel fields;
  fields.scale_base = static_cast<std::int16_t>(rounded_mean(scales));
  fields.scale_table = fit_table(scales, fields.scale_base, kFieldScaleKind).scale;
  const std::int32_t base = rounded_mean(centres);
  fields.centre_base = static_cast<std::int16_t>(base);
  const Fit fitting = fit_table(centres, base, kFieldCentreKind);
  fields.centre_table = fitting.scale;
  if (!fitting.has_all) {
    const Frequencies& widest = class_family().tables.frequencies(fields.centres());
    for (ColumnModel& column : columns) {
      column.centre = static_cast<std::int16_t>(
          std::clamp<std::int32_t>(column.centre, base + widest.first, base + widest.last()));
    }
  }
  return fields;
}

}  // namespace sluice::entropy
