// What a link does to packets besides carrying them at its rate: queueing, loss, jitter.
// Where in the flow: part of a LinkSpec; the tiers with packets act on each, the fluid tier on its
// mean where that has meaning (sim/net/fluid/README.md).
// Surprise: burst loss is clocked by time and not by packets, so that it does not change with the
// size of packets and all tiers meet the same bad times.
#pragma once

#include <variant>

#include "base/result.h"
#include "base/units.h"
#include "traces/loss_trace.h"

namespace sluice {

// A full queue drops what comes.
struct DropTail {
  bool operator==(const DropTail&) const = default;
};
// Controlled delay (RFC 8289): drops from the head while packets stay longer than `target` for
// `interval`.
struct CoDel {
  Duration target = std::chrono::milliseconds{5};
  Duration interval = std::chrono::milliseconds{100};
  bool operator==(const CoDel&) const = default;
};
// Random early detection (Floyd and Jacobson 1993, "gentle"): between `low` and `high` of average
// queue the probability rises to `probability`, and to 1 at twice `high`. With low = high,
// probability 1 and weight 1 it is a step on the queue as it is, which DCTCP needs (RFC 8257,
// section 3.1).
struct Red {
  DataSize low, high;
  double probability = 0.1;
  double weight = 0.002;  // of the newest sample in the average
  // Marks packets that can be marked instead of dropping them (RFC 3168), as long as they find
  // room; those of our own transport cannot.
  bool ecn = false;
  bool operator==(const Red&) const = default;
};
struct QueueSpec {
  DataSize limit =
      DataSize::bytes(16 << 20);  // of waiting packets, the one on the wire not counted
  std::variant<DropTail, CoDel, Red> discipline;
  bool operator==(const QueueSpec&) const = default;
};

struct NoLoss {
  bool operator==(const NoLoss&) const = default;
};
// Each packet by itself.
struct RandomLoss {
  double probability = 0;
  bool operator==(const RandomLoss&) const = default;
};
// Gilbert (1960) and Elliott (1963): a good and a bad state, each lasting exponentially long.
struct BurstLoss {
  Duration mean_good{}, mean_bad{};
  double loss_good = 0, loss_bad = 1;
  bool operator==(const BurstLoss&) const = default;
};
// A LossTrace: each packet by itself, with the probability of the instant at which it leaves.
using LossSpec = std::variant<NoLoss, RandomLoss, BurstLoss, LossTrace>;

// Refuses shares outside 0..1, times and thresholds that are not in order. The error has no place.
[[nodiscard]] Status check_effects(const QueueSpec& queue, const LossSpec& loss);

// The share of packets lost in the long run.
[[nodiscard]] double mean_loss(const LossSpec& loss);

}  // namespace sluice
