// The `link` and `transport` mappings of a scenario. Private to sim/scenario.
#pragma once

#include <filesystem>

#include "sim/scenario/fields.h"
#include "sim/scenario/scenario.h"

namespace sluice {

// Relative trace files are looked for beside the scenario file.
[[nodiscard]] LinkSetting read_link(Fields fields, const std::filesystem::path& folder);
[[nodiscard]] TransportSpec read_transport(Fields fields);

}  // namespace sluice
