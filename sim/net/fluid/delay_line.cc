#include "sim/net/fluid/delay_line.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sluice {

Duration mean_jitter(const LinkSpec& link) {
  if (link.jitter == Duration::zero()) return {};
  const bool timed = link.capacity.clock == TraceClock::kTime;
  const DataRate rate = timed ? summarise(link.capacity).mean : link.capacity.steps.front().rate;
  if (rate == DataRate::zero()) return link.jitter / 2;
  const double jitter_s = to_seconds(link.jitter), spacing_s = to_seconds(link.mtu / rate);
  const double below_s = std::sqrt(std::numbers::pi / 2 * jitter_s * spacing_s);
  return seconds_to_duration(std::max(jitter_s / 2, jitter_s - below_s));
}

DelayLine::DelayLine(const TopologySpec& topology, const Route& route) {
  for (const LinkId id : route) {
    const LinkSpec& link = topology.links[static_cast<std::size_t>(id.value)];
    constant_ += mean_jitter(link);
    if (!link.delay_trace) {
      constant_ += link.delay;
      continue;
    }
    changing_.emplace_back(*link.delay_trace, link.trace_offset);
    longest_ += summarise(*link.delay_trace).max;
  }
  longest_ += constant_;
}

Duration DelayLine::delay_with_changes(Instant left) const {
  Duration sum = constant_;
  for (const DelayCursor& cursor : changing_) sum += cursor.delay_at(left);
  return sum;
}

Instant DelayLine::next_change(Instant t) const {
  Instant next = Instant::max();
  for (const DelayCursor& cursor : changing_) {
    next = std::min(next, cursor.next_change(t).value_or(Instant::max()));
  }
  return next;
}

// The latest of all that left before: of each stretch of constant delay, its last byte.
Instant DelayLine::arrival_after_changes(Instant left) const {
  Instant arrives = left + delay_at(left);
  Instant from = std::max(kRunStart, left - longest_);
  while (from < left) {
    const Instant until = std::min(next_change(from), left);
    arrives = std::max(arrives, until + delay_at(from));
    from = until;
  }
  return arrives;
}

Instant DelayLine::arrived_after_changes(Instant now) const {
  Instant from = now - longest_;
  if (from < kRunStart) {
    if (now - delay_at(kRunStart) < kRunStart) return now - delay_at(kRunStart);
    from = kRunStart;
  }
  while (from <= now) {
    const Instant until = next_change(from), last = now - delay_at(from);
    if (last < until) return std::max(from, last);
    from = until;
  }
  return now;
}

}  // namespace sluice
