#include "traces/delay_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/step_times.h"

namespace sluice {

Status check_delay_trace(const DelayTrace& trace, const std::string& name) {
  if (trace.steps.empty())
    return error_in(name, "the delay trace has no steps", "give at least one delay");
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    if (trace.steps[i].delay >= Duration::zero() && trace.steps[i].delay <= kMaxTraceDelay)
      continue;
    return error_in(name,
                    fmt::format("step {}: the delay {:.9g} s is outside 0 .. {}", i + 1,
                                to_seconds(trace.steps[i].delay), to_text(kMaxTraceDelay)),
                    "check the unit of the delays");
  }
  return check_step_times(trace.steps, trace.length, name);
}

DelaySummary summarise(const DelayTrace& trace) {
  DelaySummary s{{}, trace.steps.front().delay, trace.steps.front().delay};
  s.mean = nanoseconds(mean_over_time(trace.steps, trace.length,
                                      [](const DelayStep& step) { return to_ns(step.delay); }));
  for (const DelayStep& step : trace.steps) {
    s.min = std::min(s.min, step.delay);
    s.max = std::max(s.max, step.delay);
  }
  return s;
}

}  // namespace sluice
