// The `workload` mapping of a scenario: when loads arrive, and how long their contexts are.
// Where in the flow: under the scenario parser.
#pragma once

#include "sim/scenario/fields.h"
#include "sim/scenario/scenario.h"

namespace sluice {

// No context, and no chunk of one, is longer.
inline constexpr std::int64_t kMaxContextTokens = 10'000'000;

[[nodiscard]] WorkloadSetting read_workload(Fields fields);

}  // namespace sluice
