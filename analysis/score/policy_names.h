// Which stored policy a user means: by its full name, or by as much of it as tells it from the
// others.
// Where in the flow: `compare --policy` and `--baseline`.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analysis/score/score.h"

namespace sluice {

// `text` is a full name ("fixed:level=int8@token"), or a name with some or none of its parameters.
// Errors, as those of `option`: nothing matches (names the nearest), several do (names them).
[[nodiscard]] Result<std::string> find_policy(std::string_view text,
                                              std::span<const std::string> known,
                                              const std::string& option);

// Keeps the policies named, in the order given; all when none is named.
[[nodiscard]] Status keep_policies(std::span<const std::string> wanted, ScoreInput& input);

[[nodiscard]] std::vector<std::string> policy_names(const ScoreInput& input);

}  // namespace sluice
