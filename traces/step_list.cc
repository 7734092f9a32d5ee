#include "traces/step_list.h"

#include "base/assert.h"

namespace sluice {

void StepList::append(Duration time, DataRate rate) {
  SLUICE_ASSERT(time > Duration::zero(), "a step takes time");
  if (steps_.empty() || steps_.back().rate != rate) steps_.push_back({length_, rate});
  length_ += time;
}

void StepList::move_to(LinkTrace& trace) && {
  steps_.shrink_to_fit();
  trace.steps = std::move(steps_);
  trace.length = length_;
}

}  // namespace sluice
