// LLMLingua's idea (Jiang et al. 2023): whole tokens leave the prompt, so all layers lose the same
// ones. LLMLingua asks a small language model which; here the attention that they got, summed over
// all layers, stands in for it. The end of the prompt, where the question is, stays.
#pragma once

#include "codec/reducers/reducer.h"

namespace sluice {

[[nodiscard]] Reducer prompt_drop_reducer();

}  // namespace sluice
