// All that the page says about one scenario on one tier with one seed, read from the store as
// values.
// Where in the flow: between store and score (6, 7) and the charts.
#pragma once

#include <optional>
#include <vector>

#include "analysis/report/level_scheme.h"
#include "analysis/report/load_choice.h"
#include "analysis/report/report.h"
#include "analysis/score/score.h"
#include "analysis/store/store.h"

namespace sluice {

// One policy's part in the load that is shown.
struct PolicyTimeline {
  std::size_t policy_index = 0;  // in Score::policies
  RunId run;
  LoadRecord load;
};

struct ShownLoad {
  LoadChoice which;
  bool chosen_by_reader = false;  // false: by kLoadChoiceRule
  // In the score's order; policies that did not meet the load are left out.
  std::vector<PolicyTimeline> timelines;
};

// What a policy's curve is made of.
struct PolicyTimes {
  std::vector<Duration> finished;  // TTFT of loads with a first token, ascending
  std::int64_t num_loads = 0;
};

struct ReportBlock {
  ScenarioFacts scenario;
  Score score;
  LevelScheme levels;
  std::vector<PolicyTimes> times;         // [policy], as in Score::policies
  std::vector<std::vector<RunRow>> runs;  // [policy][run]
  std::vector<Duration> slos;             // distinct, ascending
  std::vector<CampaignFacts> campaigns;   // that made the runs, in their order
  std::optional<ShownLoad> load;
};

// One block per scenario, tier and seed that `options` lets through. Errors: nothing to show; the
// load asked for is not among what is shown; the store's and the score's.
[[nodiscard]] Result<std::vector<ReportBlock>> read_blocks(Store& store,
                                                           const ReportOptions& options);

}  // namespace sluice
