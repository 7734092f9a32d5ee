// The peaked family and the digit tables in a GPU's memory.
// Where in the flow: launches ask for them; the first one on a device copies about 7 MB there.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "codec/entropy/digit_tables.h"
#include "codec/entropy/peaked_family.h"

namespace sluice::entropy {

// As a kernel sees it. Offsets count from the start of `slots`.
struct PeakedTables {
  const Slot* slots = nullptr;
  std::int32_t singles[kNumPeakedScales][kNumPeakedKinds];
  std::int32_t pairs[kNumPeakedScales][kNumPeakedKinds];  // -1: this table has none
  std::int16_t lows[kNumPeakedScales][kNumPeakedKinds];   // the escapes
  std::int16_t highs[kNumPeakedScales][kNumPeakedKinds];
  std::int32_t kinds = 0;  // the kind table
};
struct DigitTables {
  DigitTable tables[kNumDigitShapes][kNumDigitScales][kNumDigitContexts];
};

// Pointers into the current device's memory, valid as long as the program runs.
[[nodiscard]] Result<const PeakedTables*> peaked_tables_on_device();
[[nodiscard]] Result<const DigitTables*> digit_tables_on_device();

}  // namespace sluice::entropy
