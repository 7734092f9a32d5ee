// The requests of a replicate, one after the other: drawn, or replayed from a trace.
// Where in the flow: under draw_replicate(), which gives each a place, an arrival and what is
// resident.
// Surprise: the first ones may only fill the prefix cache and never become loads; the loads are the
// same without them.
#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"
#include "sim/scenario/scenario.h"
#include "sim/serving/request_draw.h"

namespace sluice {

struct RequestSource {
  std::int64_t num_requests = 0;  // loads and those before them
  std::int64_t block_tokens = 1;
  std::function<RequestDraw()> next;  // in order of arrival; no more than num_requests times
};

[[nodiscard]] Result<RequestSource> make_request_source(const Scenario& scenario,
                                                        std::uint64_t replicate);

}  // namespace sluice
