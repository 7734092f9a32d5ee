// What the steady flows offer to each link, and what is left for transfers.
// Where in the flow: under the fluid tier's links; piecewise constant, so integrals are exact.
// Surprise: a steady flow passes on no more than each link before could carry, but several that
// overload a link together all pass on their whole rate: their losses are not shared out.
#pragma once

#include <span>
#include <vector>

#include "sim/net/capacity.h"

namespace sluice {

// One link's capacity and the steady flows over it.
class SteadyLoad {
 public:
  // `routes` are those of the topology's steady flows (steady_route()). The topology and `capacity`
  // [link] must outlive it.
  SteadyLoad(const TopologySpec& topology, std::span<const Route> routes,
             const std::vector<LinkCapacity>& capacity, LinkId link);
  [[nodiscard]] bool is_empty() const { return flows_.empty(); }
  // Rate at which steady packets come to the link.
  [[nodiscard]] DataRate offered(Instant now) const;
  // The first instant after `now` at which a flow, or a link before this one, changes; nullopt when
  // none does.
  [[nodiscard]] std::optional<Instant> next_change(Instant now) const;

  struct Sums {
    Nanobits offered, carried;
  };
  // Since the run began. Walks along all changes: for reports, not for every event.
  [[nodiscard]] Sums sums_until(Instant now) const;

 private:
  struct Flow {
    TraceCursor rate;
    std::vector<const LinkCapacity*> before;  // links that it has passed
  };
  const LinkCapacity* capacity_;  // of the link itself
  std::vector<Flow> flows_;
};

}  // namespace sluice
