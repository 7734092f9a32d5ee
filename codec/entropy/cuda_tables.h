// The class family's decoding tables in a GPU's memory, where kernels of every codec find them.
// Where in the flow: plans ask for them; the first one on a device copies about 4 MB there.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "codec/entropy/class_family.h"

namespace sluice::entropy {

// As a kernel sees it. Offsets count slots from the start of `slots`.
struct ClassTables {
  const Slot* slots = nullptr;
  std::int32_t singles[kNumScales][kNumKinds];
  std::int32_t pairs[kNumScales][kNumKinds];  // -1: this table has none
  std::int32_t kinds = 0;                     // the kind table
};

// A pointer into the current device's memory, valid as long as the program runs.
[[nodiscard]] Result<const ClassTables*> class_tables_on_device();

}  // namespace sluice::entropy
