// The receiving half of one connection: puts segments in order, drops second copies, decides when
// to acknowledge.
// Where in the flow: the tiers with packets count as delivered what comes out of here.
// Surprise: one acknowledgement for two full packets (RFC 5681, section 4.2), at once whenever the
// sender could learn of a loss or a repair from it, or when a transfer ends.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "sim/net/transport/segment.h"

namespace sluice {

class ConnectionReceiver {
 public:
  // `packet`: payload of a full one.
  explicit ConnectionReceiver(DataSize packet) : packet_(packet) {}
  // Takes a copy of a segment; appends to `in_order` what is now complete up to a gap. Returns
  // whether to acknowledge at once; if not, within kAckDelayMax.
  [[nodiscard]] bool take(const NumberedSegment& copy, std::vector<Segment>& in_order) {
    const bool follows = copy.number == next_number_, is_new = put(copy.segment, in_order);
    if (!follows) first_number_ = copy.number;
    next_number_ = copy.number + 1;
    unacknowledged_ += copy.segment.payload;
    const bool in_line = follows && is_new && held_.empty() && !was_holding_;
    was_holding_ = !held_.empty();
    return !in_line || copy.segment.is_last || unacknowledged_ >= packet_ * 2;
  }
  [[nodiscard]] bool owes_acknowledgement() const { return unacknowledged_ > DataSize::zero(); }
  // Of at least one segment.
  [[nodiscard]] Acknowledgement acknowledge() {
    unacknowledged_ = DataSize::zero();
    return {first_number_, next_number_ - 1, next_expected_, false};
  }

 private:
  // False: a second copy.
  bool put(const Segment& segment, std::vector<Segment>& in_order) {
    if (segment.sequence < next_expected_) return false;
    if (segment.sequence == next_expected_ && held_.empty()) {
      in_order.push_back(segment);
      ++next_expected_;
      return true;
    }
    const std::size_t ahead = segment.sequence - next_expected_;
    if (held_.size() <= ahead) held_.resize(ahead + 1);
    const bool is_new = !held_[ahead];
    held_[ahead] = segment;
    while (!held_.empty() && held_.front()) {
      in_order.push_back(*held_.front());
      held_.pop_front();
      ++next_expected_;
    }
    return is_new;
  }

  DataSize packet_, unacknowledged_;
  std::uint64_t first_number_ = 0, next_number_ = 0;  // the newest copies without a gap
  std::uint64_t next_expected_ = 0;
  bool was_holding_ = false;
  std::deque<std::optional<Segment>> held_;  // from next_expected_ on
};

}  // namespace sluice
