// cachegen-released as a codec: see codec/codec.h for the contract and spec.md for the bits.
#pragma once

#include "codec/codec.h"

namespace sluice {

[[nodiscard]] Codec cachegen_released_codec();

namespace cachegen_released {

// The largest symbol of a layer's tensors, by the level's table (spec.md): 15, 7 or 5. `level` is
// an index in CodecInfo::levels.
[[nodiscard]] std::int32_t max_symbol(const SectionContext& context, std::int64_t layer);

}  // namespace cachegen_released
}  // namespace sluice
