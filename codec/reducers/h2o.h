// H2O (Zhang et al. 2023): half the budget for the latest tokens, half for the heavy hitters among
// the others, by accumulated attention. Per layer.
#pragma once

#include "codec/reducers/reducer.h"

namespace sluice {

[[nodiscard]] Reducer h2o_reducer();

}  // namespace sluice
