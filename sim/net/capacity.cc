#include "sim/net/capacity.h"

#include <algorithm>

#include "base/assert.h"

namespace sluice {

LinkCapacity::LinkCapacity(const LinkSpec& link) : link_(&link) {
  if (!by_chunk()) cursor_.emplace(link.capacity, link.trace_offset);
}

DataRate LinkCapacity::rate(Instant now, std::optional<std::int64_t> chunk) const {
  if (cursor_) return cursor_->rate_at(now);
  SLUICE_ASSERT(chunk && *chunk >= 0, "a chunk-clocked link needs the index of the chunk");
  const auto& steps = link_->capacity.steps;
  const auto index = static_cast<std::size_t>(*chunk);
  return link_->capacity.end == TraceEnd::kLoop ? steps[index % steps.size()].rate
                                                : steps[std::min(index, steps.size() - 1)].rate;
}

std::optional<Instant> LinkCapacity::next_change(Instant now) const {
  return cursor_ ? cursor_->next_change(now) : std::nullopt;
}

std::optional<Instant> LinkCapacity::finish(Instant start, Nanobits amount,
                                            std::optional<std::int64_t> chunk) const {
  while (true) {
    const DataRate now = rate(start, chunk);
    const std::optional<Duration> time = amount.time_at(now);
    const std::optional<Instant> change = next_change(start);
    if (time && (!change || start + *time <= *change)) return start + *time;
    if (!change) return std::nullopt;
    amount -= Nanobits::flown(now, *change - start);
    start = *change;
  }
}

std::optional<DataSize> LinkCapacity::offered_until(Instant now) const {
  if (!cursor_) return std::nullopt;
  return cursor_->capacity_between(kRunStart, now);
}

}  // namespace sluice
