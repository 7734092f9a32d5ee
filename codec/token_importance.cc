#include "codec/token_importance.h"

#include <algorithm>

namespace sluice {

std::vector<float> TokenImportance::of(const KvLayer<TensorView>& layer,
                                       std::vector<float> Layer::*measure) const {
  const auto found = layers.find(layer.layer);
  if (found == layers.end()) return {};
  const Positions& known = found->second.positions;
  std::vector<float> values;
  auto next = known.begin();
  for (std::int64_t token = 0; token < layer.tokens(); ++token) {
    next = std::lower_bound(next, known.end(), layer.position(token));
    if (next == known.end() || *next != layer.position(token)) return {};
    values.push_back((found->second.*measure)[static_cast<std::size_t>(next - known.begin())]);
  }
  return values;
}

}  // namespace sluice
