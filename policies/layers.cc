#include "policies/layers.h"

#include <algorithm>

#include "base/assert.h"

namespace sluice {
namespace {

// Top first.
std::vector<std::int32_t> down_from(std::int32_t level, std::span<const LevelInfo> levels) {
  std::vector<std::int32_t> chain{level};
  while (const auto below = levels[static_cast<std::size_t>(chain.back())].refines) {
    SLUICE_ASSERT(chain.size() < levels.size(), "levels refine each other in a ring");
    chain.push_back(*below);
  }
  return chain;
}

}  // namespace

Layers::Layers(std::span<const LevelInfo> levels, std::span<const LevelCost> costs) {
  for (std::size_t i = 0; i < levels.size(); ++i) {
    std::vector<std::int32_t> chain = down_from(static_cast<std::int32_t>(i), levels);
    if (chain.size() > chain_.size()) chain_ = std::move(chain);
  }
  if (chain_.size() == 1) {
    const auto smallest =
        std::min_element(costs.begin(), costs.end(),
                         [](const LevelCost& a, const LevelCost& b) { return a.size < b.size; });
    chain_ = {static_cast<std::int32_t>(smallest - costs.begin())};
  }
  std::reverse(chain_.begin(), chain_.end());
}

std::span<const std::int32_t> Layers::above(std::int32_t level) const {
  const auto here = std::find(chain_.begin(), chain_.end(), level);
  if (here == chain_.end()) return {};
  return {here + 1, chain_.end()};
}

}  // namespace sluice
