// The receiving half of one connection: puts segments in order and drops second copies.
// Where in the flow: the burst tier counts as delivered what comes out of here.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "sim/net/transport/connection_sender.h"

namespace sluice {

class ConnectionReceiver {
 public:
  // Takes a copy of a segment; appends to `in_order` what is now complete up to a gap.
  void take(const Segment& segment, std::vector<Segment>& in_order) {
    if (segment.sequence < next_expected_) return;  // a second copy
    const std::size_t ahead = segment.sequence - next_expected_;
    if (held_.size() <= ahead) held_.resize(ahead + 1);
    held_[ahead] = segment;
    while (!held_.empty() && held_.front()) {
      in_order.push_back(*held_.front());
      held_.pop_front();
      ++next_expected_;
    }
  }
  [[nodiscard]] std::uint64_t next_expected() const { return next_expected_; }

 private:
  std::uint64_t next_expected_ = 0;
  std::deque<std::optional<Segment>> held_;  // from next_expected_ on
};

}  // namespace sluice
