// What one link carries at a time: its trace replayed from the link's offset, by time or by chunk.
// Where in the flow: under every simulated tier, so that all of them replay a trace in the same
// way.
// Surprise: the step of a chunk-clocked trace past its end follows TraceEnd: a looping trace begins
// again, a holding one keeps its last rate (CacheGen's own script reads past its list there).
#pragma once

#include <optional>

#include "base/nanobits.h"
#include "sim/net/network.h"

namespace sluice {

// A rate, and the instant from which it may be another; Instant::max() when it stays.
struct RateUntil {
  DataRate rate;
  Instant until;
};

class LinkCapacity {
 public:
  // `link` must outlive it.
  explicit LinkCapacity(const LinkSpec& link);
  [[nodiscard]] bool by_chunk() const { return link_->capacity.clock == TraceClock::kChunk; }
  // `chunk` is looked at only by a chunk-clocked link, which needs it.
  [[nodiscard]] DataRate rate(Instant now, std::optional<std::int64_t> chunk) const;
  // The first instant after `now` at which the rate differs; nullopt when it never does.
  [[nodiscard]] std::optional<Instant> next_change(Instant now) const;
  // Both at once, of a time-clocked link.
  [[nodiscard]] RateUntil rate_until(Instant now) const {
    const auto stretch = cursor_->stretch_at(now);
    return {stretch.value, stretch.until};
  }
  // When `amount`, begun at `start`, has passed through, across every change of the rate; nullopt
  // when it never does.
  [[nodiscard]] std::optional<Instant> finish(Instant start, Nanobits amount,
                                              std::optional<std::int64_t> chunk) const;
  // What could have passed since the run began; nullopt on a chunk-clocked link.
  [[nodiscard]] std::optional<DataSize> offered_until(Instant now) const;

 private:
  const LinkSpec* link_;
  std::optional<TraceCursor> cursor_;  // of a time-clocked trace
};

}  // namespace sluice
