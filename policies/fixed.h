// Every chunk at one level, in order, the next transfer as soon as the last ends: the non-adaptive
// baseline.
#pragma once

#include "policies/registry.h"

namespace sluice {

[[nodiscard]] PolicyEntry fixed_entry();

}  // namespace sluice
