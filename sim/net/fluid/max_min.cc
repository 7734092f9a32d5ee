#include "sim/net/fluid/max_min.h"

#include <algorithm>
#include <limits>

#include "base/assert.h"

namespace sluice {
namespace {

constexpr std::size_t kFlow = std::numeric_limits<std::size_t>::max() / 2;

std::size_t index_of(LinkId link) {
  return static_cast<std::size_t>(link.value);
}

// `left` * `weight` / `of`, rounded down.
DataRate part(DataRate left, std::int64_t weight, std::int64_t of) {
  if (weight == of) return left;
  if (weight == 1) return DataRate::bits_per_sec(left.bits_per_sec() / of);
  return DataRate::bits_per_sec(
      static_cast<std::int64_t>(detail::Wide{left.bits_per_sec()} * weight / of));
}

}  // namespace

bool MaxMinSolver::later(const Entry& a, const Entry& b) {
  const detail::Wide a_share = detail::Wide{a.left.bits_per_sec()} * b.weight;
  const detail::Wide b_share = detail::Wide{b.left.bits_per_sec()} * a.weight;
  return a_share != b_share ? a_share > b_share : a.index > b.index;
}

void MaxMinSolver::push(const Entry& entry) {
  heap_.push_back(entry);
  std::push_heap(heap_.begin(), heap_.end(), later);
}

MaxMinSolver::Entry MaxMinSolver::pop() {
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const Entry first = heap_.back();
  heap_.pop_back();
  return first;
}

void MaxMinSolver::open_links(std::span<const DataRate> capacity,
                              std::span<const MaxMinFlow> flows) {
  links_.resize(std::max(links_.size(), capacity.size()));
  used_.clear();
  for (const MaxMinFlow& flow : flows) {
    SLUICE_ASSERT(flow.weight > 0, "a flow without weight");
    for (const LinkId id : flow.links) {
      LinkState& link = links_[index_of(id)];
      if (link.num_flows == 0) {
        used_.push_back(index_of(id));
        link.left = capacity[index_of(id)];
        link.weight = 0;
      }
      ++link.num_flows;
      link.weight += flow.weight;
    }
  }
}

void MaxMinSolver::list_flows(std::span<const MaxMinFlow> flows) {
  std::size_t first = 0;
  for (const std::size_t link : used_) {
    links_[link].first = first;
    first += links_[link].num_flows;
    links_[link].num_flows = 0;  // counted again while they are listed
  }
  crossing_.resize(first);
  for (std::size_t i = 0; i < flows.size(); ++i) {
    for (const LinkId id : flows[i].links) {
      LinkState& link = links_[index_of(id)];
      crossing_[link.first + link.num_flows++] = i;
    }
  }
}

void MaxMinSolver::fix(std::size_t flow, DataRate rate, std::span<MaxMinFlow> flows) {
  is_open_[flow] = false;
  flows[flow].rate = rate;
  for (const LinkId id : flows[flow].links) {
    LinkState& link = links_[index_of(id)];
    link.left = link.left - rate;
    link.weight -= flows[flow].weight;
  }
}

void MaxMinSolver::fix_flows_of(std::size_t link, std::span<MaxMinFlow> flows) {
  const LinkState& state = links_[link];
  for (std::size_t i = state.first; i < state.first + state.num_flows; ++i) {
    const std::size_t flow = crossing_[i];
    if (is_open_[flow]) fix(flow, part(state.left, flows[flow].weight, state.weight), flows);
  }
}

void MaxMinSolver::solve(std::span<const DataRate> capacity, std::span<MaxMinFlow> flows) {
  open_links(capacity, flows);
  list_flows(flows);
  is_open_.assign(flows.size(), true);
  heap_.clear();
  for (const std::size_t link : used_) push({links_[link].left, links_[link].weight, link});
  for (std::size_t i = 0; i < flows.size(); ++i) {
    SLUICE_ASSERT(!flows[i].links.empty() || flows[i].limit, "a flow needs a link or a limit");
    if (flows[i].limit) push({*flows[i].limit, flows[i].weight, kFlow + i});
  }
  while (!heap_.empty()) {
    const Entry first = pop();
    if (first.index >= kFlow) {
      if (is_open_[first.index - kFlow]) fix(first.index - kFlow, first.left, flows);
      continue;
    }
    const LinkState& link = links_[first.index];
    if (link.weight == 0) continue;  // all of its flows are fixed
    if (link.left != first.left || link.weight != first.weight) {
      push({link.left, link.weight, first.index});
    } else {
      fix_flows_of(first.index, flows);
    }
  }
  for (const std::size_t link : used_) links_[link].num_flows = 0;
}

}  // namespace sluice
