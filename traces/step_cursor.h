// Where a run stands in a series of steps: what holds at an instant, and when that next changes.
// Where in the flow: under TraceCursor (rates) and DelayCursor (delays).
// Surprise: a series that loops is read from any offset, so its laps rarely begin at the run's
// start.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

#include "base/assert.h"
#include "base/units.h"
#include "traces/trace_end.h"

namespace sluice {

// `Step` has a `start`; `Value` is the member that holds from then on.
template <typename Step, auto Value>
class StepCursor {
 public:
  struct Stretch {
    std::remove_cvref_t<decltype(std::declval<Step>().*Value)> value;
    Instant until;
  };

  // `steps` must outlive the cursor; their starts ascend strictly from zero, the last one before
  // `length`. `offset` >= 0 says where in the series the run begins; past the end of a looping
  // series it counts on into the next laps.
  StepCursor(std::span<const Step> steps, Duration length, TraceEnd end, Duration offset)
      : steps_(steps), length_(length), end_(end), offset_(offset) {
    SLUICE_ASSERT(!steps.empty() && length > Duration::zero(), "a cursor needs a checked series");
    SLUICE_ASSERT(offset >= Duration::zero(), "a cursor needs an offset >= 0");
    if (end == TraceEnd::kLoop) offset_ %= length;
  }

  [[nodiscard]] auto value_at(Instant t) const { return steps_[index_at(position_of(t))].*Value; }

  // The first instant after `t` at which the value differs; nullopt when it never does.
  [[nodiscard]] std::optional<Instant> next_change(Instant t) const {
    const Instant until = stretch_at(t).until;
    return until == Instant::max() ? std::nullopt : std::optional{until};
  }
  // What holds at `t`, and until when; Instant::max() when it never differs again.
  [[nodiscard]] auto stretch_at(Instant t) const {
    const Duration position = position_of(t);
    Instant lap_start = t - position;  // before the run's start in the run's first lap
    std::size_t i = index_at(position);
    const auto now = steps_[i].*Value;
    for (std::size_t seen = 0; seen < steps_.size(); ++seen) {
      if (++i == steps_.size()) {
        if (end_ == TraceEnd::kHold) break;
        i = 0;
        lap_start += length_;
      }
      if (steps_[i].*Value != now) return Stretch{now, lap_start + steps_[i].start};
    }
    return Stretch{now, Instant::max()};
  }

 private:
  [[nodiscard]] Duration position_of(Instant t) const {
    SLUICE_ASSERT(t >= kRunStart, "a series is read at instants of the run");
    const Duration elapsed = offset_ + t.time_since_epoch();
    return end_ == TraceEnd::kLoop ? elapsed % length_ : elapsed;
  }
  [[nodiscard]] std::size_t index_at(Duration position) const {
    const auto after =
        std::upper_bound(steps_.begin(), steps_.end(), position,
                         [](Duration p, const Step& step) { return p < step.start; });
    return static_cast<std::size_t>(after - steps_.begin()) - 1;
  }

  std::span<const Step> steps_;
  Duration length_;
  TraceEnd end_;
  Duration offset_;
};

}  // namespace sluice
