// The embedded layers of a ladder: a base and the levels that refine it, one after the other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policies/policy.h"

namespace sluice {

class Layers {
 public:
  // The longest chain of levels that refine each other, the first in the ladder of equally long
  // ones; where none refines another, the level of the fewest bytes alone. `costs` are those of any
  // chunk.
  Layers(std::span<const LevelInfo> levels, std::span<const LevelCost> costs);

  [[nodiscard]] std::int32_t base() const { return chain_.front(); }
  // All levels above this one, the next first; none of a level that is not one of the layers.
  [[nodiscard]] std::span<const std::int32_t> above(std::int32_t level) const;

 private:
  std::vector<std::int32_t> chain_;  // base first
};

}  // namespace sluice
