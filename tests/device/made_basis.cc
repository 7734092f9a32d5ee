#include "tests/device/made_basis.h"

#include "base/random.h"

namespace sluice {

ModelProfilePtr made_profile(BasisBlock block, const TensorShape& key, const TensorShape& value) {
  RandomStream random(21);
  LayerProfile layer{.layer = 0,
                     .key_heads = key.heads,
                     .key_dim = key.dim,
                     .value_heads = value.heads,
                     .value_dim = value.dim};
  for (std::int64_t c = 0; c < layer.channels(); ++c) {
    layer.means.push_back(static_cast<float>(random.normal(0, 0.5)));
    layer.scales.push_back(block == BasisBlock::kDiagonal ? 0.5F : 0.005F);
  }
  if (block == BasisBlock::kLayer) layer.widths = {layer.channels()};
  if (block == BasisBlock::kHead) {
    layer.widths.assign(static_cast<std::size_t>(key.heads), key.dim);
    layer.widths.insert(layer.widths.end(), static_cast<std::size_t>(value.heads), value.dim);
  }
  for (const std::int64_t width : layer.widths) {
    for (std::int64_t i = 0; i < width * width; ++i) {
      const bool is_diagonal = i % (width + 1) == 0;
      const auto other = static_cast<int>(random.below(5)) - 2;
      layer.basis.push_back(static_cast<std::int8_t>(is_diagonal ? 120 : other));
    }
  }
  ModelProfile profile{.name = "made", .block = block};
  profile.layers.push_back(std::move(layer));
  return with_inverses(std::move(profile));
}

}  // namespace sluice
