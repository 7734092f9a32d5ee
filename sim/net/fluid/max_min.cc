#include "sim/net/fluid/max_min.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace sluice {
namespace {

constexpr DataRate kUnlimited = DataRate::bits_per_sec(std::numeric_limits<std::int64_t>::max());

}  // namespace

DataRate MaxMinSolver::share(const LinkState& link) {
  return DataRate::bits_per_sec(link.left.bits_per_sec() / link.num_open);
}

void MaxMinSolver::open_links(std::span<const DataRate> capacity,
                              std::span<const MaxMinFlow> flows) {
  links_.resize(std::max(links_.size(), capacity.size()));
  for (const std::size_t link : used_) links_[link].num_open = 0;
  used_.clear();
  open_.clear();
  for (std::size_t i = 0; i < flows.size(); ++i) {
    open_.push_back(i);
    for (const LinkId id : flows[i].links) {
      const auto link = static_cast<std::size_t>(id.value);
      if (links_[link].num_open++ > 0) continue;
      links_[link].left = capacity[link];
      used_.push_back(link);
    }
  }
}

DataRate MaxMinSolver::smallest_share() const {
  DataRate smallest = kUnlimited;
  for (const std::size_t link : used_) {
    if (links_[link].num_open > 0) smallest = std::min(smallest, share(links_[link]));
  }
  return smallest;
}

bool MaxMinSolver::crosses_bottleneck(const MaxMinFlow& flow, DataRate smallest) const {
  return std::any_of(flow.links.begin(), flow.links.end(), [&](LinkId id) {
    return share(links_[static_cast<std::size_t>(id.value)]) <= smallest;
  });
}

void MaxMinSolver::fix(MaxMinFlow& flow, DataRate rate) {
  flow.rate = rate;
  for (const LinkId id : flow.links) {
    LinkState& link = links_[static_cast<std::size_t>(id.value)];
    link.left = link.left - rate;
    --link.num_open;
  }
}

void MaxMinSolver::solve(std::span<const DataRate> capacity, std::span<MaxMinFlow> flows) {
  open_links(capacity, flows);
  while (!open_.empty()) {
    const DataRate smallest = smallest_share();
    // Own limits below every share come first: what such a flow leaves is for the others.
    DataRate level = smallest;
    for (const std::size_t i : open_) level = std::min(level, flows[i].limit.value_or(kUnlimited));
    SLUICE_ASSERT(level < kUnlimited, "a flow needs a link or a limit");
    const auto fixed = [&](std::size_t i) {
      MaxMinFlow& flow = flows[i];
      const bool is_fixed =
          level < smallest ? flow.limit && *flow.limit <= level : crosses_bottleneck(flow, level);
      if (is_fixed) fix(flow, level);
      return is_fixed;
    };
    open_.erase(std::remove_if(open_.begin(), open_.end(), fixed), open_.end());
  }
}

}  // namespace sluice
