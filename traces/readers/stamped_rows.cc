#include "traces/readers/stamped_rows.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {

Status StampedRows::forward(Duration time) const {
  if (num_rows_ == 0) return {};
  if (time > last_.time) {
    if (time - first_.time <= kMaxTraceLength) return {};
    return error_in("", "the trace is longer than ten years", "check the unit of its times");
  }
  const bool equal = time == last_.time;
  return error_in("",
                  fmt::format("the time {:.9g} s {} the row before", to_seconds(time),
                              equal ? "is equal to that of" : "goes back behind"),
                  equal ? "leave one row per time" : "sort the rows by time");
}

Status StampedRows::add(Duration time, const RowValues& row) {
  if (Status order = forward(time); !order) return order;
  if (list_.full()) {
    return error_in("", fmt::format("more than {} rate changes", kMaxSteps),
                    "cut the trace into parts");
  }
  if (num_rows_++ == 0) {
    first_ = last_ = {time, row};
    return {};
  }
  last_step_ = time - last_.time;
  longest_step_ = std::max(longest_step_, last_step_);
  list_.append(last_step_, rule_ == StampRule::kEnd ? row : last_.values);
  last_ = {time, row};
  return {};
}

Status StampedRows::close(Duration time) {
  if (Status order = forward(time); !order) return order;
  list_.append(time - last_.time, last_.values);
  closed_ = true;
  return {};
}

void StampedRows::finish_end_stamps(LinkTrace& trace) {
  const bool clock_began_at_zero =
      first_.time > Duration::zero() && (first_.time <= longest_step_ || num_rows_ == 1);
  if (!clock_began_at_zero) {
    trace.skip(1, first_.time == Duration::zero()
                      ? "stamped 0, it ends no interval"
                      : "the beginning of its interval is not in the file");
    std::move(list_).move_to(trace);
    return;
  }
  list_.prepend(first_.time, first_.values);
  std::move(list_).move_to(trace);
}

Status StampedRows::finish(LinkTrace& trace) && {
  if (rule_ == StampRule::kEnd) {
    finish_end_stamps(trace);
  } else {
    if (!closed_ && num_rows_ == 1) {
      return error_in("", "one row that begins an interval does not say when it ends",
                      "add a last row with the end time and an empty rate");
    }
    if (!closed_) list_.append(last_step_, last_.values);
    std::move(list_).move_to(trace);
  }
  trace.num_rows = num_rows_ - trace.num_skipped;
  if (trace.steps.empty()) {
    return error_in("", "the only row is stamped 0 and ends no interval", "add the rows after it");
  }
  return {};
}

}  // namespace sluice
