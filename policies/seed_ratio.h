// The rule of the text that this project starts from, taken literally: argmax over levels of (SLO -
// T_decode) / T_transmit.
// Surprise: T_transmit = size / B, so the rate B is a common factor and cancels; the rule never
// adapts to bandwidth and takes the smallest level whenever decode times are alike. It is here to
// show that.
#pragma once

#include "policies/registry.h"

namespace sluice {

[[nodiscard]] PolicyEntry seed_ratio_entry();

}  // namespace sluice
