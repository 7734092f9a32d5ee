#include "sim/net/fluid/steady_load.h"

#include <algorithm>

namespace sluice {
namespace {

void keep_earliest(std::optional<Instant>& earliest, std::optional<Instant> candidate) {
  if (candidate && (!earliest || *candidate < *earliest)) earliest = candidate;
}

}  // namespace

SteadyLoad::SteadyLoad(const TopologySpec& topology, std::span<const Route> routes,
                       const std::vector<LinkCapacity>& capacity, LinkId link)
    : capacity_(&capacity[static_cast<std::size_t>(link.value)]) {
  for (std::size_t i = 0; i < topology.steady_flows.size(); ++i) {
    const Route& route = routes[i];
    const auto here = std::find(route.begin(), route.end(), link);
    if (here == route.end()) continue;
    const SteadyFlow& spec = topology.steady_flows[i];
    Flow flow{TraceCursor(spec.rate, spec.trace_offset), {}};
    for (auto before = route.begin(); before != here; ++before)
      flow.before.push_back(&capacity[static_cast<std::size_t>(before->value)]);
    flows_.push_back(std::move(flow));
  }
}

DataRate SteadyLoad::offered(Instant now) const {
  DataRate sum;
  for (const Flow& flow : flows_) {
    DataRate rate = flow.rate.rate_at(now);
    for (const LinkCapacity* link : flow.before)
      rate = std::min(rate, link->rate(now, std::nullopt));
    sum = sum + rate;
  }
  return sum;
}

std::optional<Instant> SteadyLoad::next_change(Instant now) const {
  std::optional<Instant> next;
  for (const Flow& flow : flows_) {
    keep_earliest(next, flow.rate.next_change(now));
    for (const LinkCapacity* link : flow.before) keep_earliest(next, link->next_change(now));
  }
  return next;
}

SteadyLoad::Sums SteadyLoad::sums_until(Instant now) const {
  Sums sums;
  if (flows_.empty()) return sums;
  for (Instant from = kRunStart; from < now;) {
    std::optional<Instant> until = next_change(from);
    keep_earliest(until, capacity_->next_change(from));
    const Duration time = std::min(until.value_or(now), now) - from;
    const DataRate rate = offered(from);
    sums.offered += Nanobits::flown(rate, time);
    sums.carried += Nanobits::flown(std::min(rate, capacity_->rate(from, std::nullopt)), time);
    from += time;
  }
  return sums;
}

}  // namespace sluice
