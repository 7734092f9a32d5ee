// One run: one scenario, one policy, one replicate, one tier. All that is drawn depends on the seed
// and the replicate, never on the policy, so that every policy meets the same links, lengths and
// arrivals.
// Where in the flow: drives steps 1 to 5 and hands records to score and store.
#pragma once

#include "sim/scenario/scenario.h"
#include "sim/serving/engine.h"
#include "sim/session/record.h"

namespace sluice {

struct RunOutcome {
  LinkTrace trace;          // the one that this replicate met
  Duration trace_offset{};  // where in it the first load began
  RunMetrics metrics;
  std::vector<LoadRecord> loads;
};

// Deterministic: the same arguments give the same outcome, whatever ran before.
[[nodiscard]] Result<RunOutcome> run_replicate(const Scenario& scenario, const PolicySpec& policy,
                                               std::int64_t replicate, const std::string& tier);
// On engines of the caller's.
[[nodiscard]] Result<RunOutcome> run_replicate(const Scenario& scenario, const PolicySpec& policy,
                                               std::int64_t replicate, const EngineMaker& make);

}  // namespace sluice
