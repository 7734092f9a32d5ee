// From a server's catalogue to what one session needs.
// Where in the flow: between emu/contents and the session, beside sim/serving/plan.h.
#pragma once

#include "base/result.h"
#include "emu/contents/catalogue.h"
#include "sim/scenario/scenario.h"
#include "sim/session/session.h"

namespace sluice {

struct CataloguePlanOptions {
  // Damage, prefill and first-token times, and the SLO, are the scenario's; null: damage is not
  // known (0), nothing can be recomputed, and the first token takes no time.
  const Scenario* scenario = nullptr;
  std::optional<Duration> slo;  // in the place of the scenario's
  bool clairvoyant = false;
};

// Sizes and decode times are those that were measured on the catalogue's chunks. Errors: a level
// that the scenario's ladder does not have, levels that are not in the ladder's order, no SLO.
[[nodiscard]] Result<LoadPlan> plan_from_catalogue(const Catalogue& catalogue, std::int64_t index,
                                                   const CataloguePlanOptions& options);

}  // namespace sluice
