// How the columns of a tile of model 4 are coded: a group's tables and their escapes, those of its
// models.
// Where in the flow: under peaked_encode.cc and peaked_decode.cc.
#pragma once

#include <span>

#include "codec/entropy/lane_tables.h"
#include "codec/entropy/peaked_family.h"

namespace sluice::entropy {

// Fields as those of the class family, but for the kinds.
[[nodiscard]] inline LaneTables peaked_field_lanes(const FieldModel& fields, int field, int lanes) {
  if (field != 1) return field_lanes(fields, field, lanes);
  const PeakedFamily& family = peaked_family();
  LaneTables tables(family.tables);
  for (int lane = 0; lane < lanes; ++lane) tables.add(family.kind_table, 0);
  return tables;
}

// A group's tables in the rows of a shift.
struct PeakedLanes {
  LaneTables tables{peaked_family().tables};
  EscapeLanes escapes;

  PeakedLanes(std::span<const ColumnModel> models, std::int32_t shift) {
    const PeakedFamily& family = peaked_family();
    int lane = 0;
    for (const ColumnModel& model : models) {
      const int table = family.table(peaked_scale(model.scale, shift), model.kind);
      tables.add(table, model.centre);
      escapes.centres[lane] = model.centre;
      escapes.lows[lane] = family.lows[static_cast<std::size_t>(table)];
      escapes.highs[lane] = family.highs[static_cast<std::size_t>(table)];
      ++lane;
    }
  }
};

}  // namespace sluice::entropy
