// StreamingLLM's window (Xiao et al. 2024): the context's first four tokens, where attention that
// has nowhere to go sinks, and the latest ones. Per layer, and blind to the content.
#pragma once

#include "codec/reducers/reducer.h"

namespace sluice {

[[nodiscard]] Reducer window_reducer();

}  // namespace sluice
