// `sluice sim --validate`: the same loads through several network tiers, and how far the tiers are
// apart.
// Where in the flow: after the campaign; the rows are stored beside the loads they are made of.
#pragma once

#include <filesystem>

#include "sim/cli/options.h"
#include "sim/scenario/scenario.h"

namespace sluice {

// What is compared when nobody says otherwise: all tiers whose cost per load is well below a
// second.
inline const std::vector<std::string> kValidatedTiers{"fluid", "burst", "packet"};
// Replicates when nobody says otherwise: packets take their time.
inline constexpr std::int64_t kValidatedReplicates = 3;

// Needs a scenario with two tiers or more, from the shallowest to the deepest, whose campaign is in
// the store. Stores and prints; `scenarios` in one table.
[[nodiscard]] Status validate_tiers(std::span<const Scenario> scenarios,
                                    const std::filesystem::path& store, const SimOptions& options);

}  // namespace sluice
