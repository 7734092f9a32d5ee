// The `topology` mapping of a scenario, or `link` alone for one store, one GPU and a link between.
// Where in the flow: under the scenario parser; topology_presets.h knows what each preset makes.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sim/scenario/fields.h"
#include "sim/scenario/topology_setting.h"

namespace sluice {

inline constexpr std::size_t kMaxNodes = 4096;

[[nodiscard]] TopologySetting read_topology(Fields& top, const std::filesystem::path& folder);

// The node called `name`; an error at `at` that names the nearest when there is none.
[[nodiscard]] NodeIndex find_node(const TopologySetting& topology, const std::string& name,
                                  const YAML::Node& at, FieldErrors& errors);

}  // namespace sluice
