// The class family in a GPU's memory, where kernels of every codec find it.
// Where in the flow: launches ask for it; the first one on a device copies about 5 MB there.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "codec/entropy/class_family.h"

namespace sluice::entropy {

// As a kernel sees it. Offsets count from the start of `slots` and `symbols`.
struct ClassTables {
  // Decoding.
  const Slot* slots = nullptr;
  std::int32_t singles[kNumScales][kNumKinds];
  std::int32_t pairs[kNumScales][kNumKinds];  // -1: this table has none
  std::int32_t kinds = 0;                     // the kind table
  // Encoding: where symbol 0 or the pair (0, 0) stands; pairs only where `pairs` has some.
  const EncodingSymbol* symbols = nullptr;
  std::int32_t single_symbols[kNumScales][kNumKinds];
  std::int32_t pair_symbols[kNumScales][kNumKinds];
  std::int32_t kind_symbols = 0;
  FamilyFacts facts;
  const std::int16_t* modes = nullptr;      // [table] the symbol that stands in for an exception
  const std::int32_t* pair_loss = nullptr;  // [table]
};

// A pointer into the current device's memory, valid as long as the program runs.
[[nodiscard]] Result<const ClassTables*> class_tables_on_device();

}  // namespace sluice::entropy
