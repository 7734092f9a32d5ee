// How the columns of a digit tile are coded: the tables of a group's lanes, those of its models.
// Where in the flow: under digit_encode.cc and digit_decode.cc.
#pragma once

#include <span>

#include "codec/entropy/digit_tables.h"
#include "codec/entropy/digit_tile.h"
#include "codec/entropy/lane_tables.h"

namespace sluice::entropy {

// A column model is two symbols, scale and shape, in this order.
inline constexpr int kNumDigitFields = 2;

[[nodiscard]] inline LaneTables digit_field_lanes(const DigitFields& fields, int field, int lanes) {
  const ClassFamily& classes = class_family();
  const bool is_scale = field == 0;
  LaneTables tables(is_scale ? classes.tables : digit_family().shapes);
  const int table = is_scale ? classes.table(fields.scale_table, kFieldScaleKind) : kShapeTable;
  for (int lane = 0; lane < lanes; ++lane) tables.add(table, is_scale ? fields.scale_base : 0);
  return tables;
}

// The tables of a group's lanes in the rows of a shift.
[[nodiscard]] inline DigitLanes digit_lanes(std::span<const DigitModel> models,
                                            std::int32_t shift) {
  const DigitFamily& family = digit_family();
  DigitLanes lanes;
  for (const DigitModel& model : models) {
    const auto& tables = family.tables[model.shape][digit_scale(model.scale, shift)];
    for (int context = 0; context < kNumDigitContexts; ++context) {
      lanes.tables[context][lanes.used] = tables[context];
    }
    ++lanes.used;
  }
  return lanes;
}

}  // namespace sluice::entropy
