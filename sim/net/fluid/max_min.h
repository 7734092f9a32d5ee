// Max-min fair rates on a network of links: nobody's rate can grow without shrinking that of
// somebody slower.
// Where in the flow: the fluid tier asks for new rates whenever a transfer begins or ends or a
// capacity changes.
// Surprise: rates are whole bit/s and nothing is left over: where an equal share is not whole, the
// flows listed last get 1 bit/s more.
#pragma once

#include <span>
#include <vector>

#include "sim/net/network.h"

namespace sluice {

struct MaxMinFlow {
  std::span<const LinkId> links;  // that it crosses, each once
  std::optional<DataRate> limit;  // of its own, below any link's
  DataRate rate;                  // the answer
};

// Progressive filling: the link with the smallest equal share fixes its flows, then the rest of the
// network is shared.
class MaxMinSolver {
 public:
  // `capacity` [link]; fills in the rates. A flow without links and limit has no rate to speak of
  // and is refused.
  void solve(std::span<const DataRate> capacity, std::span<MaxMinFlow> flows);

 private:
  struct LinkState {
    DataRate left;              // not yet given away
    std::int64_t num_open = 0;  // flows whose rate is not fixed yet
  };
  void open_links(std::span<const DataRate> capacity, std::span<const MaxMinFlow> flows);
  [[nodiscard]] DataRate smallest_share() const;
  void fix(MaxMinFlow& flow, DataRate rate);
  [[nodiscard]] bool crosses_bottleneck(const MaxMinFlow& flow, DataRate share) const;
  [[nodiscard]] static DataRate share(const LinkState& link);

  std::vector<LinkState> links_;   // [link]
  std::vector<std::size_t> used_;  // links that some flow crosses
  std::vector<std::size_t> open_;  // flows whose rate is not fixed yet
};

}  // namespace sluice
