// What a scenario's results depend on, as one line of JSON, and its hash.
#pragma once

#include "sim/scenario/scenario.h"

namespace sluice {

[[nodiscard]] std::string canonical_text(const Scenario& scenario);
[[nodiscard]] std::string sha256_of_canonical(const std::string& canonical);

}  // namespace sluice
