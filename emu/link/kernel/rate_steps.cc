#include "emu/link/kernel/rate_steps.h"

#include <algorithm>

namespace sluice {

DataRate RateSteps::rate(Instant at) const {
  const std::optional<Instant> change = cursor_.next_change(at);
  if (!change || *change >= at + shortest_) return cursor_.rate_at(at);
  TransferSum sum;
  Instant from = at;
  while (from < at + shortest_) {
    const Instant to = std::min(cursor_.next_change(from).value_or(at + shortest_), at + shortest_);
    sum.add(cursor_.rate_at(from), to - from);
    from = to;
  }
  return sum.mean_over(shortest_);
}

std::optional<Instant> RateSteps::next(Instant at) const {
  const std::optional<Instant> change = cursor_.next_change(at);
  if (!change) return std::nullopt;
  return std::max(*change, at + shortest_);
}

}  // namespace sluice
