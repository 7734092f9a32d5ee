// What every series of steps has in common (rates, delays, losses): rules for its times, and a
// mean weighted by them.
#pragma once

#include <fmt/format.h>

#include <span>
#include <string>

#include "base/result.h"
#include "traces/trace_end.h"

namespace sluice {

// Refuses starts that do not ascend strictly from zero, and a length that does not pass the last
// start or passes kMaxTraceLength. `steps` holds at least one; `name` is the place of the error.
template <typename Steps>
[[nodiscard]] Status check_step_times(const Steps& steps, Duration length,
                                      const std::string& name) {
  if (steps.front().start != Duration::zero())
    return error_in(name, "the first step does not start at zero", "shift the times");
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i].start > steps[i - 1].start) continue;
    return error_in(name, fmt::format("step {}: time does not go forward", i + 1),
                    "sort the rows by time");
  }
  if (length <= steps.back().start)
    return error_in(name, "the trace ends before its last step begins", "give its length");
  if (length > kMaxTraceLength)
    return error_in(name, "the trace is longer than ten years", "check the unit of its times");
  return {};
}

// The mean of value_of(step) >= 0 over one lap, weighted by time, to the nearest whole. The steps
// passed check_step_times(); values stay below 2^50.
template <typename Steps, typename ValueOf>
[[nodiscard]] std::int64_t mean_over_time(const Steps& steps, Duration length, ValueOf value_of) {
  detail::Wide area = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Duration until = i + 1 < steps.size() ? steps[i + 1].start : length;
    area += detail::Wide{value_of(steps[i])} * to_ns(until - steps[i].start);
  }
  return static_cast<std::int64_t>((2 * area + to_ns(length)) / (2 * detail::Wide{to_ns(length)}));
}

}  // namespace sluice
