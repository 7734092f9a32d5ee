// Weighted max-min fair rates on a network of links: nobody's rate per unit of weight can grow
// without shrinking that of somebody slower.
// Where in the flow: the fluid tier asks for new rates whenever a transfer begins or ends or a
// capacity changes; the weight of a transfer is its window, or without windows its number of
// connections (fluid_share.cc).
// Surprise: rates are whole bit/s and nothing is left over: where a share is not whole, the flows
// listed last get 1 bit/s more.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/net/network.h"

namespace sluice {

struct MaxMinFlow {
  std::span<const LinkId> links;  // that it crosses, each once
  std::int64_t weight = 1;        // > 0
  std::optional<DataRate> limit;  // of its own, below any link's
  DataRate rate;                  // the answer
};

// Progressive filling: the link with the smallest share per weight fixes its flows, then the rest
// of the network is shared. Takes time in proportion to the links crossed (times the logarithm of
// the number of links), however many bottlenecks there are.
class MaxMinSolver {
 public:
  // `capacity` [link]; fills in the rates. A flow without links and limit has no rate to speak of
  // and is refused.
  void solve(std::span<const DataRate> capacity, std::span<MaxMinFlow> flows);

 private:
  struct LinkState {
    DataRate left;              // not yet given away
    std::int64_t weight = 0;    // of its flows whose rate is not fixed yet
    std::size_t first = 0;      // of its flows in crossing_
    std::size_t num_flows = 0;  // of them
  };
  // A link, or a flow's own limit, with its share per weight when the entry was made. Shares only
  // grow while others are fixed, so an entry that is out of date comes up too early, never late.
  struct Entry {
    DataRate left;
    std::int64_t weight;
    std::size_t index;  // of a link; from kFlow on of a flow
  };
  static bool later(const Entry& a, const Entry& b);

  void open_links(std::span<const DataRate> capacity, std::span<const MaxMinFlow> flows);
  void list_flows(std::span<const MaxMinFlow> flows);
  void push(const Entry& entry);
  Entry pop();
  void fix_flows_of(std::size_t link, std::span<MaxMinFlow> flows);
  void fix(std::size_t flow, DataRate rate, std::span<MaxMinFlow> flows);

  std::vector<LinkState> links_;       // [link]
  std::vector<std::size_t> used_;      // links that some flow crosses
  std::vector<std::size_t> crossing_;  // flows, link by link
  std::vector<bool> is_open_;          // [flow]
  std::vector<Entry> heap_;
};

}  // namespace sluice
