// How many bits each component gets: dynamic programming over measured costs and errors.
// Where in the flow: encoder only, between the components and their symbols.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sluice::transform {

// One way to code a component.
struct Choice {
  double bits = 0;
  double error = 0;  // squared, of the whole block
};

inline constexpr int kNumChoices = 9;  // 0: not at all; b: about b bits per number

// choices: [component][kNumChoices]. Picks one choice per component so that the errors' sum is
// least among all with at most `budget` bits, counted in cells of budget / 8192 rounded upwards.
[[nodiscard]] std::vector<int> allocate(std::span<const Choice> choices, double budget);

}  // namespace sluice::transform
