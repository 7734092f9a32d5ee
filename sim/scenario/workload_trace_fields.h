// The part of a scenario's `workload` that names a trace file and how it is replayed.
// Where in the flow: under workload_fields.h.
#pragma once

#include <filesystem>

#include "sim/scenario/fields.h"
#include "sim/scenario/workload_setting.h"

namespace sluice {

// Opens `trace` and sets contexts, context_tokens and, unless the scenario `says_arrivals` itself,
// arrivals.
void read_workload_trace(Fields& fields, const std::filesystem::path& folder, bool says_arrivals,
                         WorkloadSetting& workload);

}  // namespace sluice
