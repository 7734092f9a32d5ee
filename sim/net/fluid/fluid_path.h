// A path as the fluid tier needs it: delays both ways, the rules of its windows, what loss allows.
// Where in the flow: made once per path, used by every transfer on it.
// Surprise: loss costs a transfer twice: lost data travel again, and no connection is faster than
// CUBIC at that loss in the long run (loss_bound).
#pragma once

#include "sim/net/fluid/delay_line.h"
#include "sim/net/fluid/window_rounds.h"
#include "sim/net/path.h"

namespace sluice {

struct FluidPath {
  FluidPath(const TopologySpec& topology, const TransportSpec& transport, const Path& of);

  [[nodiscard]] Duration round_trip(Instant now) const {
    return forward.delay_at(now) + backward.delay_at(now);
  }
  // What travels to deliver `size`: headers, and what is lost on the way.
  [[nodiscard]] Nanobits wire_amount(DataSize size) const;
  // Payload in what has arrived of it.
  [[nodiscard]] DataSize payload_in(Nanobits arrived) const;

  const Path* path;
  DelayLine forward, backward;
  WindowRules window;
  std::int64_t delivered_ppb;          // parts of 1e9 that are not lost
  std::optional<DataRate> loss_bound;  // of each connection, wire data; nullopt without loss
};

// Mean rate of one CUBIC connection in the long run when each packet is lost with probability
// `loss` (0 < loss < 1): the larger of CUBIC's window in the deterministic-loss model, 1.054
// (RTT / s)^(3/4) / loss^(3/4) packets (RFC 9438, equation 6), and that of its Reno-friendly
// region, sqrt(1.5 / loss) (RFC 9438, section 4.3, after the analysis of Floyd, Handley and Padhye
// 2000).
[[nodiscard]] DataRate loss_bound(double loss, DataSize packet, Duration round_trip);

}  // namespace sluice
