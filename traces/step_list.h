// Steps appended one after the other; neighbours of equal rate become one.
// Where in the flow: readers and generators fill one and move it into a LinkTrace.
#pragma once

#include <cstddef>
#include <vector>

#include "traces/link_trace.h"

namespace sluice {

// 1 GiB of steps; a trace beyond that is cut, not read.
inline constexpr std::size_t kMaxSteps = std::size_t{1} << 26;

// Steps appended one after the other, from time zero on.
class StepList {
 public:
  // `rate` holds for `time` (> 0) from the end of what is there.
  void append(Duration time, DataRate rate);
  [[nodiscard]] Duration length() const { return length_; }
  [[nodiscard]] bool full() const { return steps_.size() >= kMaxSteps; }
  // Puts steps and length into the trace.
  void move_to(LinkTrace& trace) &&;

 private:
  std::vector<RateStep> steps_;
  Duration length_{};
};

}  // namespace sluice
