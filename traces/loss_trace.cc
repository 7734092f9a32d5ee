#include "traces/loss_trace.h"

#include <fmt/format.h>

#include <algorithm>

#include "traces/step_times.h"

namespace sluice {

Status check_loss_trace(const LossTrace& trace, const std::string& name) {
  if (trace.steps.empty())
    return error_in(name, "the loss trace has no steps", "give at least one loss");
  for (std::size_t i = 0; i < trace.steps.size(); ++i) {
    if (trace.steps[i].loss_ppm >= 0 && trace.steps[i].loss_ppm <= kAllLostPpm) continue;
    return error_in(name,
                    fmt::format("step {}: the loss {} ppm is outside 0 .. {}", i + 1,
                                trace.steps[i].loss_ppm, kAllLostPpm),
                    "a loss is a share of the packets");
  }
  return check_step_times(trace.steps, trace.length, name);
}

LossSummary summarise(const LossTrace& trace) {
  LossSummary s;
  s.mean_ppm =
      mean_over_time(trace.steps, trace.length, [](const LossStep& step) { return step.loss_ppm; });
  for (const LossStep& step : trace.steps) s.max_ppm = std::max(s.max_ppm, step.loss_ppm);
  return s;
}

}  // namespace sluice
