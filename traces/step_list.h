// What the rows of a source say, appended one after the other: rates, and delays and losses where
// the source has them.
// Where in the flow: readers and generators fill one and move it into a LinkTrace.
// Surprise: a delay or loss that a row does not say stays what it was; before the first one it is
// the first.
#pragma once

#include <cstddef>
#include <optional>

#include "traces/link_trace.h"
#include "traces/step_series.h"

namespace sluice {

// 1 GiB of steps; a trace beyond that is cut, not read.
inline constexpr std::size_t kMaxSteps = std::size_t{1} << 26;

// What one row says of its interval.
struct RowValues {
  DataRate rate;
  std::optional<Duration> delay{};  // one way
  std::optional<std::int64_t> loss_ppm{};
};

// Steps appended one after the other, from time zero on.
class StepList {
 public:
  // `rate` holds for `time` (> 0) from the end of what is there.
  void append(Duration time, DataRate rate) { rates_.append(time, rate); }
  void append(Duration time, const RowValues& row) {
    rates_.append(time, row.rate);
    if (row.delay || row.loss_ppm) append_path(time, row);
  }
  // The same for what a file says: refuses a time that is not positive, a list of kMaxSteps and one
  // that would pass kMaxTraceLength. The errors have no place.
  [[nodiscard]] Status add(Duration time, const RowValues& row);
  // As append(), before all that is there.
  void prepend(Duration time, const RowValues& row);
  [[nodiscard]] Duration length() const { return rates_.length(); }
  [[nodiscard]] std::size_t num_steps() const {
    return rates_.size() + delays_.size() + losses_.size();
  }
  [[nodiscard]] bool full() const { return num_steps() >= kMaxSteps; }
  // Puts steps, length, delay and loss into the trace.
  void move_to(LinkTrace& trace) &&;

 private:
  // What a row says beside its rate, which is appended already.
  void append_path(Duration time, const RowValues& row);

  StepSeries<RateStep, &RateStep::rate> rates_;
  // Empty until a row says one; then at most as long as the rates.
  StepSeries<DelayStep, &DelayStep::delay> delays_;
  StepSeries<LossStep, &LossStep::loss_ppm> losses_;
};

}  // namespace sluice
