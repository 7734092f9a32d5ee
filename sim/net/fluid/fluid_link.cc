#include "sim/net/fluid/fluid_link.h"

#include <algorithm>

namespace sluice {

FluidLink::FluidLink(const TopologySpec& topology, std::span<const Route> steady_routes,
                     const std::vector<LinkCapacity>& capacity, LinkId id)
    : capacity_(&capacity[static_cast<std::size_t>(id.value)]),
      steady_(topology, steady_routes, capacity, id),
      delay_(topology, {id}),
      loss_(mean_loss(topology.links[static_cast<std::size_t>(id.value)].loss)) {
  curve.restart(delay_.longest());
}

void FluidLink::look_up(Instant now) {
  known_from_ = now;
  known_ = capacity_->rate_until(now);
  if (steady_.is_empty()) return;
  known_.rate = std::max(DataRate::zero(), known_.rate - steady_.offered(now));
  known_.until = std::min(known_.until, steady_.next_change(now).value_or(Instant::max()));
}

// Of transfers and steady flows until `t`. What exceeds the capacity is dropped at once, and of
// what is carried the share that the wire loses.
FluidLink::Flown FluidLink::flown_by(Instant t) const {
  if (t <= kRunStart) return {};
  const SteadyLoad::Sums steady = steady_.sums_until(t);
  const Nanobits transfers = curve.at(t);
  const DataSize carried = (transfers + steady.carried).whole_bytes();
  const DataSize offered = (transfers + steady.offered).whole_bytes();
  const auto lost = static_cast<std::int64_t>(static_cast<double>(carried.bytes()) * loss_);
  return {offered, offered - carried + DataSize::bytes(lost)};
}

LinkUsage FluidLink::usage(Instant now) const {
  const Flown left = flown_by(now), arrived = flown_by(delay_.arrived_by(now));
  LinkUsage usage;
  usage.wire_sent = left.offered;
  usage.wire_dropped = left.dropped;
  usage.wire_delivered = arrived.offered - arrived.dropped;
  usage.wire_in_flight = usage.wire_sent - usage.wire_dropped - usage.wire_delivered;
  usage.capacity = capacity_->offered_until(now).value_or(usage.wire_sent);
  return usage;
}

}  // namespace sluice
