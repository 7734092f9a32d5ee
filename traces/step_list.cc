#include "traces/step_list.h"

#include <fmt/format.h>

namespace sluice {
namespace {

// `until` is the end of the row's interval, `time` its length.
template <typename Series>
void append_known(Series& series, Duration time, Duration until,
                  const std::optional<typename Series::value_type>& value) {
  if (!value) return;
  if (series.empty()) {
    series.append(until, *value);
    return;
  }
  series.extend_to(until - time);
  series.append(time, *value);
}

template <typename Series>
void prepend_known(Series& series, Duration time, Duration length,
                   const std::optional<typename Series::value_type>& value) {
  if (!series.empty()) {
    series.prepend(time, value.value_or(series.front()));
  } else if (value) {
    series.append(length, *value);
  }
}

}  // namespace

void StepList::append_path(Duration time, const RowValues& row) {
  append_known(delays_, time, rates_.length(), row.delay);
  append_known(losses_, time, rates_.length(), row.loss_ppm);
}

Status StepList::add(Duration time, const RowValues& row) {
  if (time <= Duration::zero())
    return error_in("", "the interval lasts no time", "give each row a time");
  if (full()) {
    return error_in("", fmt::format("more than {} rate changes", kMaxSteps),
                    "cut the trace into parts");
  }
  if (time > kMaxTraceLength - length())
    return error_in("", "the trace is longer than ten years", "check the unit of its times");
  append(time, row);
  return {};
}

void StepList::prepend(Duration time, const RowValues& row) {
  rates_.prepend(time, row.rate);
  prepend_known(delays_, time, rates_.length(), row.delay);
  prepend_known(losses_, time, rates_.length(), row.loss_ppm);
}

void StepList::move_to(LinkTrace& trace) && {
  trace.length = rates_.length();
  trace.steps = std::move(rates_).take();
  if (!delays_.empty()) {
    delays_.extend_to(trace.length);
    trace.delay = DelayTrace{std::move(delays_).take(), trace.length, trace.end};
  }
  if (!losses_.empty()) {
    losses_.extend_to(trace.length);
    trace.loss = LossTrace{std::move(losses_).take(), trace.length, trace.end};
  }
}

}  // namespace sluice
