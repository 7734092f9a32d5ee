// The `workload` mapping of a scenario: when loads arrive, how long their contexts are, what they
// share and what a GPU node keeps of it.
// Where in the flow: under the scenario parser.
#pragma once

#include <filesystem>

#include "codec/geometry/geometry.h"
#include "sim/scenario/fields.h"
#include "sim/scenario/workload_setting.h"

namespace sluice {

// No context, and no chunk of one, is longer.
inline constexpr std::int64_t kMaxContextTokens = 10'000'000;

// A trace file lies beside the scenario, in `folder`. A prefix cache given as a size holds as many
// tokens of `model` as fit.
[[nodiscard]] WorkloadSetting read_workload(Fields fields, const std::filesystem::path& folder,
                                            const ModelGeometry& model);

}  // namespace sluice
