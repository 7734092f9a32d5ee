// One layer of a section: its key and value (or what there is of them), side by side as channels.
// Where in the flow: encode.cc and decode.cc walk a section unit by unit; device code lists the
// same units.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/codec.h"
#include "codec/model_profile/model_profile.h"

namespace sluice::ladder {

// Consecutive tensors of a section that are of one layer: one, or a key and its value.
template <typename View>
struct UnitOf {
  std::span<const SectionTensorOf<View>> tensors;

  [[nodiscard]] std::int64_t tokens() const { return tensors[0].values.shape.tokens; }
  [[nodiscard]] std::int64_t channels() const {
    std::int64_t channels = 0;
    for (const auto& tensor : tensors) channels += tensor.values.shape.channels();
    return channels;
  }
  // Of the context: such a token is coded raw, since it is unlike all others (it draws attention).
  [[nodiscard]] bool begins_the_context() const { return tensors[0].position(0) == 0; }
};

// Splits a section. A key and the next tensor are one unit if that is a value of the same layer
// with as many tokens.
template <typename View>
[[nodiscard]] std::vector<UnitOf<View>> units_of(std::span<const SectionTensorOf<View>> tensors) {
  std::vector<UnitOf<View>> units;
  for (std::size_t i = 0; i < tensors.size();) {
    const bool is_pair = i + 1 < tensors.size() && tensors[i].kind == TensorKind::kKey &&
                         tensors[i + 1].kind == TensorKind::kValue &&
                         tensors[i].layer == tensors[i + 1].layer &&
                         tensors[i].values.shape.tokens == tensors[i + 1].values.shape.tokens;
    const std::size_t count = is_pair ? 2 : 1;
    units.push_back({tensors.subspan(i, count)});
    i += count;
  }
  return units;
}

// What the model profile says of the unit; null: nothing that fits its shapes.
template <typename View>
[[nodiscard]] const LayerProfile* profile_of(const ModelProfile* profile,
                                             const UnitOf<View>& unit) {
  if (profile == nullptr || unit.tensors.size() != 2) return nullptr;
  const LayerProfile* layer = profile->find(unit.tensors[0].layer);
  if (layer == nullptr) return nullptr;
  const TensorShape& key = unit.tensors[0].values.shape;
  const TensorShape& value = unit.tensors[1].values.shape;
  const bool fits = layer->key_heads == key.heads && layer->key_dim == key.dim &&
                    layer->value_heads == value.heads && layer->value_dim == value.dim;
  return fits ? layer : nullptr;
}

// Context positions of tokens [first, tokens) of the unit.
template <typename View>
[[nodiscard]] std::vector<std::int64_t> positions_of(const UnitOf<View>& unit, std::int64_t first) {
  std::vector<std::int64_t> positions;
  for (std::int64_t token = first; token < unit.tokens(); ++token)
    positions.push_back(unit.tensors[0].position(token));
  return positions;
}

}  // namespace sluice::ladder
