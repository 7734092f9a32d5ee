// What bounds every series of steps in a trace: its length, and what follows.
#pragma once

#include <chrono>

#include "base/units.h"

namespace sluice {

// What follows the last step.
enum class TraceEnd {
  kLoop,  // the trace begins again
  kHold,  // the last step stays
};

// No trace is longer, so that instants in it stay far from the range of a Duration.
inline constexpr Duration kMaxTraceLength = std::chrono::hours{24 * 365 * 10};

}  // namespace sluice
