// The loop of digit planes with AVX2; as Kernels says.
#pragma once

#include "codec/entropy/kernel.h"

namespace sluice::entropy::avx2 {

bool decode_digits(DecodeState& state, const DigitLanes& lanes, std::int64_t rows,
                   std::int16_t* symbols);

}  // namespace sluice::entropy::avx2
