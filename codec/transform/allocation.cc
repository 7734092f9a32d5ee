#include "codec/transform/allocation.h"

#include <algorithm>
#include <cmath>

namespace sluice::transform {
namespace {

constexpr std::int32_t kCells = 8192;

}  // namespace

std::vector<int> allocate(std::span<const Choice> choices, double budget) {
  const std::size_t num_components = choices.size() / kNumChoices;
  if (!(budget > 0)) return std::vector<int>(num_components, 0);
  const double cell = budget / kCells;
  // least[n]: the least error of the components so far with n cells.
  std::vector<double> least(kCells + 1, 0.0), next(kCells + 1);
  std::vector<std::uint8_t> picked(num_components * (kCells + 1));
  const auto cells_of = [&](const Choice& choice) {
    return static_cast<std::int32_t>(std::min(std::ceil(choice.bits / cell), kCells + 1.0));
  };
  for (std::size_t component = 0; component < num_components; ++component) {
    std::uint8_t* const pick = &picked[component * (kCells + 1)];
    const Choice* const of_component = &choices[component * kNumChoices];
    for (std::int32_t n = 0; n <= kCells; ++n)
      next[static_cast<std::size_t>(n)] =
          least[static_cast<std::size_t>(n)] + of_component[0].error;
    for (int c = 1; c < kNumChoices; ++c) {
      const std::int32_t cells = cells_of(of_component[c]);
      for (std::int32_t n = cells; n <= kCells; ++n) {
        const double error = least[static_cast<std::size_t>(n - cells)] + of_component[c].error;
        if (error >= next[static_cast<std::size_t>(n)]) continue;
        next[static_cast<std::size_t>(n)] = error;
        pick[n] = static_cast<std::uint8_t>(c);
      }
    }
    least.swap(next);
  }
  std::vector<int> result(num_components);
  std::int32_t n = kCells;
  for (std::size_t component = num_components; component-- > 0;) {
    const int c = picked[component * (kCells + 1) + static_cast<std::size_t>(n)];
    result[component] = c;
    if (c > 0) n -= cells_of(choices[component * kNumChoices + static_cast<std::size_t>(c)]);
  }
  return result;
}

}  // namespace sluice::transform
