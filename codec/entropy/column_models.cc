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

class Search {
 public:
  Search(const ColumnCounts& column, const Kernels& kernels)
      : column_(column), kernels_(kernels), family_(class_family()) {}

  ChosenModel run() {
    best_.cost = INT64_MAX;
    const std::int32_t low = std::max(0, scale_near(column_.inner.sigma) - 1);
    const std::int32_t high = std::min(kNumScales - 1, scale_near(column_.all.sigma) + 2);
    for (std::int32_t scale = low; scale <= high; ++scale) {
      if (!try_kind(scale, 0)) break;
    }
    const std::int32_t middle = best_.model.scale;
    for (std::int32_t kind = 1; kind < kNumKinds; ++kind) {
      for (const std::int32_t scale : {middle - 1, middle, middle + 1}) {
        if (scale >= 0 && scale < kNumScales && family_.own[scale][kind]) try_kind(scale, kind);
      }
    }
    return best_;
  }

 private:
  // Both integer centres around the mean; false when neither is better than what there is.
  bool try_kind(std::int32_t scale, std::int32_t kind) {
    const int table = family_.table(scale, kind);
    const auto below = static_cast<std::int32_t>(
        std::floor(column_.inner.mean - family_.means[static_cast<std::size_t>(table)]));
    bool is_better = false;
    for (const std::int32_t place : {below, below + 1}) {
      const std::int32_t centre = std::clamp(place, -kMaxCentre, kMaxCentre);
      const std::int32_t first = column_.start - centre - kCostFirst;
      if (first < 0 || first > kCostSpan - kCostWindow) continue;
      const std::int16_t* const costs = family_.costs(table);
      const std::int64_t cost =
          family_.costs(family_.kind_table)[kind - kCostFirst] +
          std::int64_t{kernels_.weigh(column_.counts, costs + first)} +
          std::int64_t{column_.outside} * (kExceptionCost + kTableBits * kCostPerBit);
      if (cost >= best_.cost) continue;
      best_ = {{static_cast<std::int16_t>(scale), static_cast<std::int16_t>(kind),
                static_cast<std::int16_t>(centre)},
               cost};
      is_better = true;
    }
    return is_better;
  }

  const ColumnCounts& column_;
  const Kernels& kernels_;
  const ClassFamily& family_;
  ChosenModel best_;
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
  const ClassFamily& family = class_family();
  Fit best{kNumScales - 1, false};
  std::int64_t best_cost = 0;
  for (std::int32_t scale = 0; scale < kNumScales; ++scale) {
    const int table = family.table(scale, kind);
    const Frequencies& frequencies = family.tables.frequencies(table);
    std::int64_t cost = 0;
    bool has_all = true;
    for (const std::int32_t value : values) {
      const std::int32_t place = value - base;
      has_all = has_all && frequencies.has(place);
      const std::int32_t in_row = std::clamp(place, kCostFirst, kCostFirst + kCostSpan - 1);
      cost += family.costs(table)[in_row - kCostFirst];
    }
    if (has_all && (!best.has_all || cost < best_cost)) {
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
  return Search(column, kernels).run();
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
