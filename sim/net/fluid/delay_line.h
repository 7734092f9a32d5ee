// When what leaves at an instant arrives, over links whose delays may change with time.
// Where in the flow: the fluid tier keeps one per direction of a path and one per link.
// Surprises: data stay in order, so a byte that could overtake arrives with the one before it; all
// links of a path are read at the instant at which the byte leaves the first.
#pragma once

#include <vector>

#include "sim/net/network.h"

namespace sluice {

class DelayLine {
 public:
  DelayLine(const TopologySpec& topology, const Route& route);

  // What a byte that leaves at `left` needs, were it alone.
  [[nodiscard]] Duration delay_at(Instant left) const {
    return changing_.empty() ? constant_ : delay_with_changes(left);
  }
  // When a byte that leaves at `left` arrives in a stream of bytes.
  [[nodiscard]] Instant arrival(Instant left) const {
    return changing_.empty() ? left + constant_ : arrival_after_changes(left);
  }
  // Everything that left before this has arrived by `now`.
  [[nodiscard]] Instant arrived_by(Instant now) const {
    return changing_.empty() ? now - constant_ : arrived_after_changes(now);
  }
  // No byte needs longer.
  [[nodiscard]] Duration longest() const { return longest_; }

 private:
  [[nodiscard]] Duration delay_with_changes(Instant left) const;
  [[nodiscard]] Instant arrival_after_changes(Instant left) const;
  [[nodiscard]] Instant arrived_after_changes(Instant now) const;
  [[nodiscard]] Instant next_change(Instant t) const;  // Instant::max() without one

  Duration constant_{};  // the sum of delays that do not change, and of jitter
  Duration longest_{};
  std::vector<DelayCursor> changing_;
};

// How much longer a stream of data needs on a link with jitter, in the long run: each packet is
// late by a uniform share of it, and none overtakes. Packets far apart are late by half of it;
// dense ones by nearly all, since each waits for the latest before it: less sqrt(pi / 2 * jitter *
// spacing), the mean of the Rayleigh distribution that the smallest of jitter - late + age follows.
[[nodiscard]] Duration mean_jitter(const LinkSpec& link);

}  // namespace sluice
