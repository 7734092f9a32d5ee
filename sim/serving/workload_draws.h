// The requests of a replicate, one after the other: drawn, or replayed from a trace.
// Where in the flow: under draw_replicate(), which gives each a place, an arrival and what is
// resident.
// Surprise: the first ones may only fill the prefix cache and never become loads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "base/result.h"
#include "sim/scenario/scenario.h"

namespace sluice {

struct RequestDraw {
  std::int64_t context_tokens = 0;
  std::vector<std::uint64_t> blocks;     // of the prefix; empty without a prefix cache
  std::optional<std::uint64_t> session;  // turns of one session go to one GPU node
  // Since the first load's stamp in the trace; zero unless arrivals are the trace's.
  Duration arrival{};
  bool is_load = true;  // false: it fills the cache
};

struct RequestSource {
  std::int64_t num_requests = 0;  // loads and those before them
  std::int64_t block_tokens = 1;
  std::function<RequestDraw()> next;  // in order of arrival; no more than num_requests times
};

[[nodiscard]] Result<RequestSource> make_request_source(const Scenario& scenario,
                                                        std::uint64_t replicate);

}  // namespace sluice
