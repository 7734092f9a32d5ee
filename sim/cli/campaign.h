// A campaign: every (tier, policy, replicate) of a scenario that the store does not hold yet, by
// worker processes.
// Where in the flow: drives steps 1 to 5 and writes step 7.
// Surprise: workers are processes, because ns-3 has one simulator per process; the store's claims
// keep them apart, and a campaign that was killed goes on where it stopped.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sim/scenario/scenario.h"
#include "sim/serving/run.h"

namespace sluice {

struct CampaignOptions {
  std::filesystem::path store;
  int jobs = 1;  // as in run_workers()
  std::vector<std::string> command;            // argv, for provenance
  std::string scenario_argument;               // as given
  std::optional<std::string> link_trace_file;  // as given
  std::optional<std::int64_t> only_replicate;
  // Makes one run; called in worker processes. Empty: run_replicate().
  std::function<Result<RunOutcome>(const PolicySpec& policy, std::int64_t replicate,
                                   const std::string& tier)>
      make_run;
};

struct CampaignSummary {
  std::int64_t num_runs = 0;    // asked for
  std::int64_t num_reused = 0;  // the store had them
};

[[nodiscard]] Result<CampaignSummary> run_campaign(const Scenario& scenario,
                                                   const CampaignOptions& options);

}  // namespace sluice
