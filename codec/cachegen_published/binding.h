// cachegen-published as a codec: see codec/codec.h for the contract and spec.md for the bits.
#pragma once

#include "codec/codec.h"

namespace sluice {

[[nodiscard]] Codec cachegen_published_codec();

}  // namespace sluice
