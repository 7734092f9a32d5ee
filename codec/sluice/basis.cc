#include "codec/sluice/basis.h"

#include "codec/sluice/rungs.h"

namespace sluice::ladder {
namespace {

// Rows of a block two by two: see BlockBasis.
void interleave(const std::int8_t* basis, std::int64_t width, std::int16_t* pairs) {
  for (std::int64_t j = 0; j < width; ++j) {
    std::int16_t* const row = pairs + j / 2 * 2 * width + j % 2;
    for (std::int64_t c = 0; c < width; ++c) row[2 * c] = basis[j * width + c];
  }
}

std::int64_t pair_numbers(std::int64_t width) {
  return (width + 1) / 2 * 2 * width;
}

}  // namespace

UnitBasis basis_of(const LayerProfile& layer) {
  UnitBasis unit{.scales = layer.scales, .means = layer.means, .blocks = {}, .pairs = {}};
  if (layer.basis.empty()) return unit;
  std::int64_t numbers = 0;
  for (const std::int64_t width : layer.widths) numbers += pair_numbers(width);
  unit.pairs.resize(static_cast<std::size_t>(numbers));
  const std::int8_t* from = layer.basis.data();
  std::int16_t* to = unit.pairs.data();
  for (const std::int64_t width : layer.widths) {
    interleave(from, width, to);
    unit.blocks.push_back({to, width});
    from += width * width;
    to += pair_numbers(width);
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
  if (!basis.blocks.empty()) synthesise_row(basis, offsets.data(), kernels, sums.data());
  std::vector<float> values(sums.size());
  for (std::size_t c = 0; c < values.size(); ++c) {
    const float product = (kOffsetStep * basis.scales[c]) * static_cast<float>(sums[c]);
    values[c] = product + basis.means[c];
  }
  return values;
}

void synthesise_row(const UnitBasis& basis, const std::int16_t* symbols, const Kernels& kernels,
                    std::int32_t* sums) {
  std::int64_t first = 0;
  for (const BlockBasis& block : basis.blocks) {
    kernels.synthesise(symbols + first, block, sums + first);
    first += block.width;
  }
}

}  // namespace sluice::ladder
