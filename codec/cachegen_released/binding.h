// cachegen-released as a codec: see codec/codec.h for the contract and spec.md for the bits.
#pragma once

#include "codec/bytes.h"
#include "codec/codec.h"
#include "codec/entropy/binding.h"

namespace sluice {

[[nodiscard]] Codec cachegen_released_codec();

namespace cachegen_released {

// The largest symbol of a layer's tensors, by the level's table (spec.md): 15, 7 or 5. `level` is
// an index in CodecInfo::levels.
[[nodiscard]] std::int32_t max_symbol(const SectionContext& context, std::int64_t layer);

// How the level's planes are modelled.
[[nodiscard]] entropy::PlaneModel plane_model(std::size_t level);

// What every backend's decoder reads and checks alike: so many fp16 magnitudes from the front, and
// that no byte is left behind the last tensor. Errors have no file.
[[nodiscard]] Result<std::span<const std::byte>> read_scales(ByteReader& in, std::int64_t count);
[[nodiscard]] Status check_nothing_left(std::span<const std::byte> payload);

}  // namespace cachegen_released
}  // namespace sluice
