// From a scenario and a context length to what one session needs: chunks with bytes, times and
// damage per level.
// Where in the flow: between scenario and session (3); the only place where geometry meets the
// codec profile.
#pragma once

#include "sim/serving/draws.h"
#include "sim/session/session.h"

namespace sluice {

// `levels` are the scenario's (level_infos). `index` names the load within its run. Throws
// std::overflow_error when a size or time does not fit, std::out_of_range for a chunk that
// Scenario::measured does not have.
[[nodiscard]] LoadPlan plan_load(const Scenario& scenario, const LevelList& levels,
                                 const PolicySpec& policy, std::int64_t index,
                                 const LoadDraw& draw);

// Bytes that the source keeps for this context: every chunk at every level of the ladder.
[[nodiscard]] DataSize stored_size(const LoadPlan& plan);

}  // namespace sluice
