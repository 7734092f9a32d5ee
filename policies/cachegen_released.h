// What CacheGen's public script does (run_adaptation.py, config_selection; read 2024-10): for each
// chunk the finest level with size / rate < SLO / round(context / chunk), else recompute; the rate
// is that of the chunk about to be sent, known beforehand.
// Surprise: clairvoyant, no carry-over of unused budget, decode time ignored.
#pragma once

#include "policies/registry.h"

namespace sluice {

[[nodiscard]] PolicyEntry cachegen_released_entry();

}  // namespace sluice
