// SnapKV (Li et al. 2024, section 4): the last 32 queries vote for the tokens before them, votes
// are max-pooled so that neighbours come along, and the 32 tokens themselves stay. Per layer.
#pragma once

#include "codec/reducers/reducer.h"

namespace sluice {

[[nodiscard]] Reducer snapkv_reducer();

}  // namespace sluice
