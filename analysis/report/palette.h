// Colours and dashes: which policy, which level. All of them differ for the colour-blind too, on
// white and on black.
// Where in the flow: under the charts and the style sheet. Markup names classes only; the style
// sheet knows the two themes.
#pragma once

#include <cstddef>
#include <string>

namespace sluice {

// Class names of the policy at `index` in the table: colour "c0" … and dash "d0" …; the first 36
// pairs are distinct.
[[nodiscard]] std::string policy_colour_class(std::size_t index);
[[nodiscard]] std::string policy_dash_class(std::size_t index);

// Level `index` of `num_levels`, 0 the finest: the more bytes, the more ink.
[[nodiscard]] std::string level_class(std::size_t index, std::size_t num_levels);
inline constexpr const char* kRecomputeClass = "recompute";
inline constexpr const char* kUnknownLevelClass = "unknown-level";

// The rules that give these classes their colours in one theme.
enum class Theme { kLight, kDark };
[[nodiscard]] std::string palette_rules(Theme theme);
// The dashes, the same in both.
[[nodiscard]] std::string dash_rules();

}  // namespace sluice
