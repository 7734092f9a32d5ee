// The choice of a table per column, and how the choice itself is coded.
// Where in the flow: the encoder's half of the class-family model; decoders only read its result.
// Surprise: any choice is a valid stream; this one is fixed to the last bit only so that every
// backend writes the same bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/backend.h"
#include "codec/entropy/class_family.h"
#include "codec/entropy/column_counts.h"

namespace sluice::entropy {

// A column's distribution: class_family().table(scale, kind), moved by `centre`. Coded as three
// symbols, in this order.
struct ColumnModel {
  std::int16_t scale = 0;
  std::int16_t kind = 0;
  std::int16_t centre = 0;
};

// How the column models of one tile are coded: scales and centres each with a table of the family
// (kFieldScaleKind, kFieldCentreKind) around a base, kinds with the kind table.
inline constexpr std::int32_t kFieldScaleKind = 0;
inline constexpr std::int32_t kFieldCentreKind = 4;
struct FieldModel {
  std::int16_t scale_table = 0, scale_base = 0;  // index of the table's scale; 0..37
  std::int16_t centre_table = 0, centre_base = 0;
  [[nodiscard]] int scales() const { return class_family().table(scale_table, kFieldScaleKind); }
  [[nodiscard]] int centres() const { return class_family().table(centre_table, kFieldCentreKind); }
};

// A model and what a column's symbols and its kind cost with it, in 1/256 bit.
struct ChosenModel {
  ColumnModel model;
  std::int64_t cost = 0;
};

// The model with nearly the fewest bits for a column of `rows` rows, among those near its moments.
// Same counts, same choice, on every host and backend.
[[nodiscard]] ChosenModel choose_model(const ColumnCounts& column, std::int64_t rows,
                                       const Kernels& kernels);

// Fits the fields' tables to the columns; centres too far from the others for any table move
// nearer.
[[nodiscard]] FieldModel fit_fields(std::vector<ColumnModel>& columns);

}  // namespace sluice::entropy
