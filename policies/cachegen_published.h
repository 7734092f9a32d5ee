// The rule of the CacheGen paper (SIGCOMM 2024, algorithm 1): the last chunk's throughput is
// assumed for all that remains; recompute if the remaining text fits the remaining time, else the
// least lossy level that fits, else the smallest.
// Surprise: before the first measurement it sends `first`, the paper's default medium level.
#pragma once

#include "policies/registry.h"

namespace sluice {

[[nodiscard]] PolicyEntry cachegen_published_entry();

}  // namespace sluice
