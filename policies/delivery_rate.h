// How fast bytes have come during a load: a quantile of the rates between the instants at which a
// policy was asked. Surprise: over all transfers together, since requests that wait behind others
// say little by their own times.
#pragma once

#include <array>
#include <optional>

#include "policies/policy.h"

namespace sluice {

class DeliveryRate {
 public:
  // Once per decision.
  void note(const Observation& observation);
  // Of the latest rates; 0 is the lowest of them, 1 the highest. nullopt before any byte came.
  [[nodiscard]] std::optional<DataRate> quantile(double q) const;

 private:
  static constexpr std::size_t kKept = 8;
  void keep(DataRate rate);

  std::array<DataRate, kKept> rates_{};
  std::size_t num_rates_ = 0;  // ever kept
  std::optional<Instant> since_;
  DataSize delivered_;  // at `since_`
};

}  // namespace sluice
