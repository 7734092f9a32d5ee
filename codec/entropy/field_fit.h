// How the column models of a tile are coded: a table and a base for scales, and for centres.
// Where in the flow: after model_search.h has chosen every column's model; every backend runs it.
#pragma once

#include <cmath>
#include <cstdint>

#include "codec/entropy/model_search.h"
#include "codec/host_device.h"

namespace sluice::entropy {

// Scales and centres are each coded with a table of the family (of these kinds) around a base,
// kinds with the kind table.
inline constexpr std::int32_t kFieldScaleKind = 0;
inline constexpr std::int32_t kFieldCentreKind = 4;
struct FieldModel {
  std::int16_t scale_table = 0, scale_base = 0;  // index of the table's scale; 0..37
  std::int16_t centre_table = 0, centre_base = 0;
};

namespace detail {

// A histogram of values around their rounded mean, as far as cost rows reach.
struct FieldCounts {
  std::int32_t base = 0;           // to nearest, halves up
  std::int32_t low = 0, high = 0;  // of value - base
  std::int32_t counts[kCostSpan]{};

  template <typename ValueAt>
  SLUICE_HOST_DEVICE FieldCounts(std::int32_t num_values, ValueAt value_at) {
    std::int64_t sum = 0;
    for (std::int32_t i = 0; i < num_values; ++i) sum += value_at(i);
    base = static_cast<std::int32_t>(
        std::floor(static_cast<double>(sum) / static_cast<double>(num_values) + 0.5));
    low = high = value_at(0) - base;
    for (std::int32_t i = 0; i < num_values; ++i) {
      const std::int32_t value = value_at(i) - base;
      low = value < low ? value : low;
      high = value > high ? value : high;
      const std::int32_t place = value - kCostFirst;
      ++counts[place < 0 ? 0 : place >= kCostSpan ? kCostSpan - 1 : place];
    }
  }

  // The scale of the table of `kind` with the fewest bits, among those that have all values; else
  // the widest.
  [[nodiscard]] SLUICE_HOST_DEVICE std::int16_t best_scale(const FamilyFacts& family,
                                                           std::int32_t kind) const {
    std::int32_t best = kNumScales - 1;
    std::int64_t best_cost = INT64_MAX;
    const std::int32_t first = low - kCostFirst > 0 ? low - kCostFirst : 0;
    const std::int32_t last = high - kCostFirst < kCostSpan ? high - kCostFirst : kCostSpan - 1;
    for (std::int32_t scale = 0; scale < kNumScales; ++scale) {
      const std::int32_t table = family.place[scale * kNumKinds + kind];
      if (low < family.firsts[table] || high > family.lasts[table]) continue;
      std::int64_t cost = 0;
      for (std::int32_t i = first; i <= last; ++i) {
        cost += std::int64_t{counts[i]} * family.costs[table * kCostSpan + i];
      }
      if (cost >= best_cost) continue;
      best = scale;
      best_cost = cost;
    }
    return static_cast<std::int16_t>(best);
  }
};

}  // namespace detail

// Fits the fields' tables to the columns, at least one; centres too far from the others for any
// table move nearer.
[[nodiscard]] SLUICE_HOST_DEVICE inline FieldModel fit_fields(ColumnModel* columns,
                                                              std::int32_t num_columns,
                                                              const FamilyFacts& family) {
  const detail::FieldCounts scales(num_columns, [=](std::int32_t i) { return columns[i].scale; });
  const detail::FieldCounts centres(num_columns, [=](std::int32_t i) { return columns[i].centre; });
  const FieldModel fields{
      scales.best_scale(family, kFieldScaleKind), static_cast<std::int16_t>(scales.base),
      centres.best_scale(family, kFieldCentreKind), static_cast<std::int16_t>(centres.base)};
  const std::int32_t table = family.place[fields.centre_table * kNumKinds + kFieldCentreKind];
  const std::int32_t lowest = centres.base + family.firsts[table];
  const std::int32_t highest = centres.base + family.lasts[table];
  for (std::int32_t i = 0; i < num_columns; ++i) {
    std::int16_t& centre = columns[i].centre;
    if (centre < lowest) centre = static_cast<std::int16_t>(lowest);
    if (centre > highest) centre = static_cast<std::int16_t>(highest);
  }
  return fields;
}

}  // namespace sluice::entropy
