// Which load's timeline to show: the one on which the policies differ most.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/score/score.h"

namespace sluice {

struct LoadChoice {
  std::int64_t replicate = 0, index = 0;
  auto operator<=>(const LoadChoice&) const = default;
};

// The rule, as the page states it.
inline constexpr const char* kLoadChoiceRule =
    "the load on which the policies are most evenly split between in time and late; among equals "
    "the one whose median "
    "time to first token over the policies is nearest to the median of all such medians; then the "
    "first";

// Absent when no policy has a load. Policies that did not meet a load do not count for it.
[[nodiscard]] std::optional<LoadChoice> choose_load(const ScoreInput& input);

}  // namespace sluice
