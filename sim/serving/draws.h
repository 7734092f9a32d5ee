// What a replicate draws before any policy acts: its traces, context lengths, arrivals, places,
// offsets, and what of each context is resident.
// Surprise: residency follows from the requests in order of arrival alone, as if each were loaded
// at once, so that all policies meet the same.
#pragma once

#include "base/random.h"
#include "sim/scenario/scenario.h"

namespace sluice {

struct LoadDraw {
  std::int64_t context_tokens = 0;
  std::int64_t resident_tokens = 0;  // the first ones: in its GPU node's prefix cache on arrival
  Instant arrives_at;  // on the run's clock; the end of the warm-up for isolated loads
  // Where in the main link's trace the load's clock begins (isolated) or the run's (shared).
  Duration trace_offset{};
  NodeIndex source = 0, destination = 0;
};

// What both directions of a cable carry in this replicate.
struct CableTraces {
  LinkTrace there;
  std::optional<LinkTrace> back;  // absent: as there
};

struct ReplicateDraws {
  std::vector<CableTraces> cables;  // as in TopologySetting::cables
  std::vector<LoadDraw> loads;
};

[[nodiscard]] Result<ReplicateDraws> draw_replicate(const Scenario& scenario,
                                                    std::int64_t replicate);

// Anywhere in the trace, where the link's setting says so.
[[nodiscard]] Duration draw_offset(const LinkSetting& link, const LinkTrace& trace,
                                   RandomStream& random);

}  // namespace sluice
