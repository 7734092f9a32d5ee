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
  std::vector<BlockBasis> blocks;    // in the order of their channels; none: diagonal
  std::vector<std::int16_t> pairs;   // what the blocks point into
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

// A token's symbols to the sums of its channels, with a basis of blocks.
void synthesise_row(const UnitBasis& basis, const std::int16_t* symbols, const Kernels& kernels,
                    std::int32_t* sums);

}  // namespace sluice::ladder
