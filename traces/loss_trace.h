// The share of packets that a link loses as a piecewise-constant function of time, beside its
// capacity.
// Where in the flow: step 1; readers of files that hold loss rates fill one, the network tiers
// replay it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "traces/step_cursor.h"
#include "traces/trace_end.h"

namespace sluice {

inline constexpr std::int64_t kAllLostPpm = 1'000'000;

// From `start` (inclusive) until the next step's start (exclusive) so many packets of a million
// are lost.
struct LossStep {
  Duration start{};           // since the trace began
  std::int64_t loss_ppm = 0;  // 0 .. kAllLostPpm
  bool operator==(const LossStep&) const = default;
};

struct LossTrace {
  std::vector<LossStep> steps;  // never empty; starts ascend strictly from zero
  Duration length{};            // end of the last step, after its start
  TraceEnd end = TraceEnd::kLoop;
  bool operator==(const LossTrace&) const = default;
};

// Refuses an empty series, a loss outside 0 .. kAllLostPpm, starts that do not ascend from zero, a
// length that does not pass the last start or passes kMaxTraceLength. `name` is the place of the
// error.
[[nodiscard]] Status check_loss_trace(const LossTrace& trace, const std::string& name);

// Replays a loss trace from an offset, as TraceCursor does a capacity.
class LossCursor {
 public:
  // `trace` must outlive the cursor and pass check_loss_trace(). `offset` >= 0 says where in the
  // trace the run begins. Instants are not before the run's start.
  LossCursor(const LossTrace& trace, Duration offset)
      : cursor_(trace.steps, trace.length, trace.end, offset) {}
  [[nodiscard]] std::int64_t loss_ppm_at(Instant t) const { return cursor_.value_at(t); }
  // The first instant after `t` at which the loss differs; nullopt when it never does.
  [[nodiscard]] std::optional<Instant> next_change(Instant t) const {
    return cursor_.next_change(t);
  }

 private:
  StepCursor<LossStep, &LossStep::loss_ppm> cursor_;
};

// Statistics of one lap, weighted by time.
struct LossSummary {
  std::int64_t mean_ppm = 0, max_ppm = 0;  // the mean to the nearest millionth
};
// `trace` must pass check_loss_trace().
[[nodiscard]] LossSummary summarise(const LossTrace& trace);

}  // namespace sluice
