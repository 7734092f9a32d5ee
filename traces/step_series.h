// Steps appended one after the other; neighbours of equal value become one.
// Where in the flow: under StepList, for rates, delays and losses alike.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "base/units.h"

namespace sluice {

// `Step` has a `start`; `Value` is the member that holds from then on.
template <typename Step, auto Value>
class StepSeries {
 public:
  using value_type = std::remove_reference_t<decltype(std::declval<Step&>().*Value)>;

  // `value` holds for `time` (> 0) from the end of what is there.
  void append(Duration time, value_type value) {
    SLUICE_ASSERT(time > Duration::zero(), "a step takes time");
    if (steps_.empty() || steps_.back().*Value != value) {
      Step step;
      step.start = length_;
      step.*Value = value;
      steps_.push_back(step);
    }
    length_ += time;
  }
  // `value` holds for `time` (> 0) before all that is there.
  void prepend(Duration time, value_type value) {
    SLUICE_ASSERT(time > Duration::zero(), "a step takes time");
    const bool merges = !steps_.empty() && steps_.front().*Value == value;
    for (Step& step : steps_) step.start += time;
    length_ += time;
    if (merges) {
      steps_.front().start = Duration::zero();
      return;
    }
    Step first;
    first.*Value = value;
    steps_.insert(steps_.begin(), first);
  }
  // The last value holds longer, so that the series, which is not empty, reaches `length`.
  void extend_to(Duration length) {
    if (length > length_) append(length - length_, steps_.back().*Value);
  }
  [[nodiscard]] bool empty() const { return steps_.empty(); }
  [[nodiscard]] std::size_t size() const { return steps_.size(); }
  [[nodiscard]] value_type front() const { return steps_.front().*Value; }
  [[nodiscard]] Duration length() const { return length_; }
  [[nodiscard]] std::vector<Step> take() && {
    steps_.shrink_to_fit();
    return std::move(steps_);
  }

 private:
  std::vector<Step> steps_;
  Duration length_{};
};

}  // namespace sluice
