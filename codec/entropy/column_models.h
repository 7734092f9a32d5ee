// The choice of a table per column, and how the choice itself is coded.
// Where in the flow: the encoder's half of the class-family model; decoders only read its result.
// Surprise: a choice is paid for, so columns that are nearly equally well served share tables.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/entropy/stats.h"
#include "codec/entropy/tables.h"

namespace sluice::entropy {

// A column's distribution: class_family().table(scale, kind), moved by `centre`. Coded as three
// symbols, in this order.
struct ColumnModel {
  std::int16_t scale = 0;
  std::int16_t kind = 0;
  std::int16_t centre = 0;
};

// How the column models of one tile are coded: scales and centres each with a table of the family
// (kFieldScaleKind, kFieldCentreKind) around a base, kinds with kind_table().
inline constexpr std::int32_t kFieldScaleKind = 0;
inline constexpr std::int32_t kFieldCentreKind = 4;
struct FieldModel {
  std::int16_t scale_table = 0, scale_base = 0;  // index of the table's scale; 0..37
  std::int16_t centre_table = 0, centre_base = 0;
  [[nodiscard]] const CodingTable& scales() const {
    return class_family().table(scale_table, kFieldScaleKind);
  }
  [[nodiscard]] const CodingTable& centres() const {
    return class_family().table(centre_table, kFieldCentreKind);
  }
  // In 1/4096 bit: of scale and centre, and of the whole model.
  [[nodiscard]] std::int64_t place_cost(const ColumnModel& column) const {
    return std::int64_t{scales().cost(column.scale - scale_base)} +
           centres().cost(column.centre - centre_base);
  }
  [[nodiscard]] std::int64_t cost(const ColumnModel& column) const {
    return place_cost(column) + kind_table().cost(column.kind);
  }
};

struct TileModels {
  std::vector<ColumnModel> columns;
  FieldModel fields;  // every column's fields are in its tables
};

// The models with (nearly) the fewest bits for `tile`, their own coding and exceptions included.
// Same tile, same choice, on every host. At least one row and one column.
[[nodiscard]] TileModels choose_models(const SymbolMatrix& tile);

}  // namespace sluice::entropy
