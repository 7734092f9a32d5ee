#include "policies/recompute.h"

#include "policies/choose.h"

namespace sluice {
namespace {

class RecomputeAll final : public Policy {
 public:
  Decision decide(const Observation& observation) override {
    const auto chunk = next_absent_chunk(observation);
    if (!chunk) return wait("every chunk is recomputed or queued");
    return recompute(*chunk, "never transfer");
  }
};

Result<std::unique_ptr<Policy>> make(const PolicyParameters& /*parameters*/,
                                     std::span<const LevelInfo> /*levels*/) {
  return std::unique_ptr<Policy>(std::make_unique<RecomputeAll>());
}

}  // namespace

PolicyEntry recompute_entry() {
  return {.id = "recompute",
          .version = 1,
          .summary = "prefill every chunk from its text, no transfer",
          .clairvoyant = false,
          .parameters = {},
          .make = make};
}

}  // namespace sluice
