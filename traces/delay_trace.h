// The one-way delay of a link as a piecewise-constant function of time, beside its capacity.
// Where in the flow: step 1; readers of files that hold latencies fill one, the network tiers
// replay it.
// Surprise: it is the delay of the path without the queue of our own link, which the tiers add. A
// file that gives round-trip times is read as half of them each way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "traces/step_cursor.h"
#include "traces/trace_end.h"

namespace sluice {

// From `start` (inclusive) until the next step's start (exclusive) a bit takes `delay` to arrive.
struct DelayStep {
  Duration start{};  // since the trace began
  Duration delay{};  // one way, >= 0
  bool operator==(const DelayStep&) const = default;
};

// A path via a geostationary satellite takes 0.3 s, the longest round trips of mobile traces some
// 10 s: a delay above this is a slip of units.
inline constexpr Duration kMaxTraceDelay = std::chrono::minutes{10};

struct DelayTrace {
  std::vector<DelayStep> steps;  // never empty; starts ascend strictly from zero
  Duration length{};             // end of the last step, after its start
  TraceEnd end = TraceEnd::kLoop;
  bool operator==(const DelayTrace&) const = default;
};

// Refuses an empty series, a delay outside 0 .. kMaxTraceDelay, starts that do not ascend from
// zero, a length that does not pass the last start or passes kMaxTraceLength. `name` is the place
// of the error.
[[nodiscard]] Status check_delay_trace(const DelayTrace& trace, const std::string& name);

// Replays a delay trace from an offset, as TraceCursor does a capacity. Two packets can overtake
// each other where the delay falls; whether they may is the network's decision.
class DelayCursor {
 public:
  // `trace` must outlive the cursor and pass check_delay_trace(). `offset` >= 0 says where in the
  // trace the run begins: the same one as of the link's TraceCursor. Instants are not before the
  // run's start.
  DelayCursor(const DelayTrace& trace, Duration offset)
      : cursor_(trace.steps, trace.length, trace.end, offset) {}
  [[nodiscard]] Duration delay_at(Instant t) const { return cursor_.value_at(t); }
  // The first instant after `t` at which the delay differs; nullopt when it never does.
  [[nodiscard]] std::optional<Instant> next_change(Instant t) const {
    return cursor_.next_change(t);
  }

 private:
  StepCursor<DelayStep, &DelayStep::delay> cursor_;
};

// Statistics of one lap, weighted by time.
struct DelaySummary {
  Duration mean{}, min{}, max{};  // the mean to the nearest nanosecond
};
// `trace` must pass check_delay_trace().
[[nodiscard]] DelaySummary summarise(const DelayTrace& trace);

}  // namespace sluice
