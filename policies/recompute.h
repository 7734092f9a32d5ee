// No transfer at all: prefill every chunk from its text. What a service without a cache does.
#pragma once

#include "policies/registry.h"

namespace sluice {

[[nodiscard]] PolicyEntry recompute_entry();

}  // namespace sluice
