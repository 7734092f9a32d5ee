// What a replicate draws before any policy acts: its trace, context lengths, arrivals, offsets.
#pragma once

#include "sim/scenario/scenario.h"

namespace sluice {

struct LoadDraw {
  std::int64_t context_tokens = 0;
  Instant arrives_at;  // on the run's clock; zero for isolated loads
  // Where in the trace the load's clock begins (isolated) or the run's (shared).
  Duration trace_offset{};
};

struct ReplicateDraws {
  LinkTrace trace;
  std::vector<LoadDraw> loads;
};

[[nodiscard]] Result<ReplicateDraws> draw_replicate(const Scenario& scenario,
                                                    std::int64_t replicate);

}  // namespace sluice
