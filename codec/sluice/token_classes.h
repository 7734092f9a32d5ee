// Which tokens get finer steps: by the attention that the context's last queries paid them.
// Where in the flow: encoders only; decoders read the classes from the stream.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/sluice/unit.h"

namespace sluice::ladder {

// A class k per token from `first` on: the step of the token is 2^(k/2) times that of the rung, and
// k = round(-2 gamma log2(a / mean a)) with a = attention + 1 / tokens, the mean a geometric one,
// and gamma 0.4, within kClassLow to kClassHigh. All 0 where importance is not known. (codec-probe:
// steps by attention are worth 0.85 bit per element.)
[[nodiscard]] std::vector<std::int8_t> token_classes(const UnitOf<TensorView>& unit,
                                                     std::int64_t first);

}  // namespace sluice::ladder
