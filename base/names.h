// Finding names: the nearest known one for an error, and a list for its fix.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

// The known name with the smallest edit distance, if at most about a third of its letters differ.
[[nodiscard]] std::optional<std::string> nearest_name(std::string_view wrong,
                                                      std::span<const std::string> known);

// "did you mean `x`?" when one is near, else "known: a, b, c".
[[nodiscard]] std::string suggest_name(std::string_view wrong, std::span<const std::string> known);

}  // namespace sluice
