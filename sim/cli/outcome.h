// What a campaign came to: the stored loads of this command scored and printed.
// Where in the flow: step 6, on the rows that the campaign wrote or found in the store.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/score/score.h"
#include "sim/cli/options.h"
#include "sim/scenario/scenario.h"

namespace sluice {

[[nodiscard]] std::vector<std::string> names_of_policies(const Scenario& scenario);

// One score per tier, of this command's policies, seed and replicates: the store may hold more of
// the same scenario.
[[nodiscard]] Result<std::vector<Score>> score_campaign(const Scenario& scenario,
                                                        const std::filesystem::path& store,
                                                        const SimOptions& options);

// The table or JSON to stdout, the pairs in words to stderr.
void print_verdict(const std::vector<Score>& scores, const std::filesystem::path& store,
                   const SimOptions& options);

}  // namespace sluice
