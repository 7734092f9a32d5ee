// What the wire does to a packet after the queue: whether it is lost, and when it arrives.
// Where in the flow: one of each per link of the tiers with packets; asked once per packet, in the
// order in which packets leave.
// Surprise: the good and bad times of burst loss have random numbers of their own, so that they
// fall on the same instants whatever is sent.
#pragma once

#include <optional>

#include "base/random.h"
#include "sim/net/network.h"

namespace sluice {

class PacketLoss {
 public:
  // `link` must outlive it; `id` and `seed` name its random numbers.
  PacketLoss(const LinkSpec& link, LinkId id, std::uint64_t seed);
  // Whether the packet that leaves at `at` is lost. Instants must not go back.
  [[nodiscard]] bool loses(Instant at);

 private:
  [[nodiscard]] double probability_at(Instant at);
  [[nodiscard]] double burst_probability_at(const BurstLoss& burst, Instant at);
  void change_state(const BurstLoss& burst);

  const LossSpec* loss_;
  std::optional<LossCursor> trace_;
  RandomStream packets_, states_;
  bool is_bad_ = false;
  Instant changes_at_;  // the state of burst loss, next
};

class PacketDelay {
 public:
  // `link` must outlive it.
  PacketDelay(const LinkSpec& link, LinkId id, std::uint64_t seed);
  // When the packet that leaves at `at` arrives: never before one that left earlier.
  [[nodiscard]] Instant arrival(Instant at);

 private:
  const LinkSpec* link_;
  std::optional<DelayCursor> trace_;
  RandomStream jitter_;
  Instant last_arrival_;
};

}  // namespace sluice
