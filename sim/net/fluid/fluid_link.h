// One link of the fluid tier: what transfers may have of it now, who uses it, what it carried.
// Where in the flow: the network shares links among transfers (fluid_flow.cc) and answers usage()
// from them.
#pragma once

#include <vector>

#include "sim/net/fluid/delay_line.h"
#include "sim/net/fluid/sent_curve.h"
#include "sim/net/fluid/steady_load.h"

namespace sluice {

struct FluidChannel;

class FluidLink {
 public:
  // `steady_routes` are those of the topology's steady flows. The topology and `capacity` [link]
  // must outlive it.
  FluidLink(const TopologySpec& topology, std::span<const Route> steady_routes,
            const std::vector<LinkCapacity>& capacity, LinkId id);

  [[nodiscard]] bool by_chunk() const { return capacity_->by_chunk(); }
  // Capacity that steady flows leave; on a chunk-clocked link that of the chunk. Remembers the last
  // answer.
  [[nodiscard]] RateUntil available(Instant now, std::optional<std::int64_t> chunk) {
    if (by_chunk()) return {capacity_->rate(now, chunk), Instant::max()};
    if (now < known_from_ || now >= known_.until) look_up(now);
    return known_;
  }
  [[nodiscard]] LinkUsage usage(Instant now) const;

  // Of the network, while it shares links.
  std::vector<FluidChannel*> channels;  // that cross it now, in no order
  Nanobits sent;                        // by transfers, until the last event
  SentCurve curve;                      // of it
  std::uint64_t seen = 0;               // the last search that came by

 private:
  struct Flown {
    DataSize offered, dropped;
  };
  [[nodiscard]] Flown flown_by(Instant t) const;
  void look_up(Instant now);

  const LinkCapacity* capacity_;
  SteadyLoad steady_;
  DelayLine delay_;
  double loss_;  // share of packets
  Instant known_from_ = Instant::max();
  RateUntil known_{};
};

}  // namespace sluice
