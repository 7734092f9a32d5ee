// What a unit's coefficients stand for: scales, means and, with a model profile, a basis.
// Where in the flow: made once per unit by encoders and decoders alike; spec.md, section 3.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/sluice/kernel.h"
#include "codec/sluice/unit.h"

namespace sluice::ladder {

struct UnitBasis {
  std::vector<float> scales, means;  // [channel]
  std::vector<BlockBasis> blocks;  // of the profile, in the order of their channels; none: diagonal
};

// By the profile's layer.
[[nodiscard]] UnitBasis basis_of(const LayerProfile& layer);
// Without one: a scale for each tensor, from the stream.
struct TensorScale {
  std::int64_t channels = 0;
  float scale = 1;
};
[[nodiscard]] UnitBasis basis_of(std::span<const TensorScale> tensors);

// offset[c] of every channel: its mean, plus what the unit's coded offsets (symbols of kOffsetStep
// per coefficient; empty: none) come to.
[[nodiscard]] std::vector<float> channel_offsets(const UnitBasis& basis,
                                                 std::span<const std::int16_t> offsets,
                                                 const Kernels& kernels);

// Tokens' symbols to the sums of their channels, with a basis of blocks. [row, channel] of each.
void synthesise(const UnitBasis& basis, const std::int16_t* symbols, std::int64_t rows,
                const Kernels& kernels, std::int32_t* sums);

}  // namespace sluice::ladder
