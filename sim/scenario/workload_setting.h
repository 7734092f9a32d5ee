// When loads arrive, how long their contexts are, and what they share, before anything is drawn.
// Where in the flow: read from `workload` by workload_fields.h; sim/serving/workload_draws.h draws
// the loads of a replicate from it.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "base/units.h"
#include "traces/workload/workload_source.h"

namespace sluice {

// When loads arrive: each alone on a fresh link and GPU, at its own instant of the trace.
struct IsolatedArrivals {};
// One after the other at fixed distance, sharing link and GPU.
struct EveryArrivals {
  Duration gap{};
};
// At random, sharing link and GPU.
struct PoissonArrivals {
  Duration mean_gap{};
};
// As the workload trace says, sharing link and GPU.
struct TraceArrivals {
  double time_scale = 1;  // times between arrivals are multiplied by it
  // Each arrival is late by a random time below this (before scaling), so that what the trace
  // stamped alike spreads out; zero: as stamped.
  Duration debunch{};
};
using Arrivals = std::variant<IsolatedArrivals, EveryArrivals, PoissonArrivals, TraceArrivals>;

struct TokenCountRange {
  std::int64_t low = 0, high = 0;  // uniform, both included
};

// Every context of its own; or a share of them begin with one of `count` texts, as with retrieved
// documents or system prompts.
struct IndependentContexts {
  double shared_fraction = 0;
  std::int64_t shared_count = 0;
  std::int64_t shared_tokens = 0;
};

// Conversations: each load is the next turn of one of `concurrent` open sessions, and its context
// is the session's so far with `turn_tokens` more. A session that has had its turns gives way to a
// new one, which begins with `first_tokens`. The first load comes when they have long been going
// on: each open session has some of its turns behind it.
struct ChatContexts {
  std::int64_t concurrent = 1;
  TokenCountRange first_tokens;
  TokenCountRange turns;
  TokenCountRange turn_tokens;
};

// Consecutive requests of a trace.
struct ReplayedContexts {
  WorkloadSource source;
  std::optional<std::int64_t> first;  // index of the first; absent: drawn for each replicate
};

// Of contexts that are not a trace's.
inline constexpr std::int64_t kDrawnBlockTokens = 16;

// Blocks of earlier requests that a GPU node keeps.
struct PrefixCacheSetting {
  std::int64_t capacity_tokens = 0;
  std::int64_t warm_up = 0;  // requests that fill it before the first load; they move no load
};

struct WorkloadSetting {
  Arrivals arrivals;
  std::int64_t loads = 1;  // per replicate
  // Of IndependentContexts what is drawn, of others the shortest and longest that can be.
  TokenCountRange context_tokens;
  std::variant<IndependentContexts, ChatContexts, ReplayedContexts> contexts;
  std::optional<PrefixCacheSetting> prefix_cache;
  std::int64_t query_tokens = 0;  // after the context, in the pass that makes the first token
  Duration give_up{};             // a load that takes longer is unfinished
};

}  // namespace sluice
