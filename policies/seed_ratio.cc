#include "policies/seed_ratio.h"

#include <fmt/format.h>

#include "policies/choose.h"

namespace sluice {
namespace {

// Before any transfer is measured; which rate stands here makes no difference to the choice (it
// cancels).
constexpr DataRate kAnyRate = DataRate::bits_per_sec(1'000'000'000);

class SeedRatio final : public Policy {
 public:
  Decision decide(const Observation& observation) override {
    if (observation.transfers_in_flight > 0) return wait("a transfer is in flight");
    const auto chunk = next_absent_chunk(observation);
    if (!chunk) return wait("every chunk is here or coming");
    const DataRate rate = observation.past.empty() ? kAnyRate : observation.past.back().rate;
    const Duration slo = observation.deadline - observation.arrived_at;
    std::int32_t best = 0;
    double best_ratio = 0;
    for (std::size_t level = 0; level < observation.levels.size(); ++level) {
      const LevelCost& cost = observation.chunks[static_cast<std::size_t>(*chunk)].levels[level];
      const double transmit_s = to_seconds(cost.size / std::max(rate, DataRate::bits_per_sec(1)));
      const double ratio = to_seconds(slo - cost.decode_time) / transmit_s;
      if (level == 0 || ratio > best_ratio) {
        best = static_cast<std::int32_t>(level);
        best_ratio = ratio;
      }
    }
    return fetch(*chunk, best,
                 fmt::format("largest (SLO - decode) / transmit, {:.3g}", best_ratio));
  }
};

Result<std::unique_ptr<Policy>> make(const PolicyParameters& /*parameters*/,
                                     std::span<const LevelInfo> /*levels*/) {
  return std::unique_ptr<Policy>(std::make_unique<SeedRatio>());
}

}  // namespace

PolicyEntry seed_ratio_entry() {
  return {.id = "seed-ratio",
          .version = 1,
          .summary = "argmax (SLO - T_decode) / T_transmit, literally; never depends on bandwidth",
          .clairvoyant = false,
          .parameters = {},
          .make = make};
}

}  // namespace sluice
