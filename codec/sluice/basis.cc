#include "codec/sluice/basis.h"

#include "codec/sluice/rungs.h"

namespace sluice::ladder {
UnitBasis basis_of(const LayerProfile& layer) {
  UnitBasis unit{.scales = layer.scales, .means = layer.means, .blocks = {}};
  if (layer.basis.empty()) return unit;
  const std::int8_t* factors = layer.basis.data();
  for (const std::int64_t width : layer.widths) {
    unit.blocks.push_back({factors, width});
    factors += width * width;
  }
  return unit;
}

UnitBasis basis_of(std::span<const TensorScale> tensors) {
  UnitBasis unit;
  for (const TensorScale& tensor : tensors)
    unit.scales.insert(unit.scales.end(), static_cast<std::size_t>(tensor.channels), tensor.scale);
  unit.means.assign(unit.scales.size(), 0.0F);
  return unit;
}

std::vector<float> channel_offsets(const UnitBasis& basis, std::span<const std::int16_t> offsets,
                                   const Kernels& kernels) {
  if (offsets.empty()) return basis.means;
  std::vector<std::int32_t> sums(offsets.begin(), offsets.end());
  if (!basis.blocks.empty()) synthesise(basis, offsets.data(), 1, kernels, sums.data());
  std::vector<float> values(sums.size());
  for (std::size_t c = 0; c < values.size(); ++c) {
    const float product = (kOffsetStep * basis.scales[c]) * static_cast<float>(sums[c]);
    values[c] = product + basis.means[c];
  }
  return values;
}

void synthesise(const UnitBasis& basis, const std::int16_t* symbols, std::int64_t rows,
                const Kernels& kernels, std::int32_t* sums) {
  std::int64_t first = 0;
  for (const BlockBasis& block : basis.blocks) {
    kernels.synthesise(symbols + first, rows, std::ssize(basis.scales), block, sums + first);
    first += block.width;
  }
}

}  // namespace sluice::ladder
