// The fixed family of digit tables: a grid of scales and shapes, a table per context at each place.
// Where in the flow: read by encoders and decoders of digit planes; digit_tables.inc is the norm.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/entropy/digit_rules.h"
#include "codec/entropy/tables.h"

namespace sluice::entropy {

struct DigitFamily {
  // At a shape and a scale of the grid, per context.
  DigitTable tables[kNumDigitShapes][kNumDigitScales][kNumDigitContexts];
  // Per (context, digit): 3 * context + digit + 1.
  EncodingSymbol symbols[kNumDigitShapes][kNumDigitScales][kNumDigitPlaces];
  std::int32_t costs[kNumDigitShapes][kNumDigitScales][kNumDigitPlaces];  // in 1/256 bit
  TableSet shapes;  // its table 1 codes the shape of a column
};

// Built at the first call.
[[nodiscard]] const DigitFamily& digit_family();
inline constexpr int kShapeTable = 1;

}  // namespace sluice::entropy
