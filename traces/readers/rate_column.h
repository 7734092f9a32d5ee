// Which of the rates in a row is meant, where a file has one for each direction.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice {

// Index 0 or 1 in the pair `names`. Errors when the option is missing or names neither; their place
// is the option.
[[nodiscard]] inline Result<std::size_t> direction_column(const std::optional<std::string>& wanted,
                                                          std::string_view first,
                                                          std::string_view second) {
  if (wanted == first) return std::size_t{0};
  if (wanted == second) return std::size_t{1};
  const std::string fix =
      fmt::format("choose with --rate-column {} or --rate-column {}", first, second);
  if (!wanted) return error_in("--rate-column", "the file has a rate for each direction", fix);
  return error_in("--rate-column", fmt::format("`{}` is none of the rates", *wanted), fix);
}

}  // namespace sluice
