// The `cross_traffic` list of a scenario: what shares the links with the loads.
// Where in the flow: under the scenario parser, after the topology.
#pragma once

#include <vector>

#include "sim/scenario/fields.h"
#include "sim/scenario/topology_setting.h"

namespace sluice {

[[nodiscard]] std::vector<CrossTraffic> read_cross_traffic(Fields& top,
                                                           const TopologySetting& topology);

}  // namespace sluice
