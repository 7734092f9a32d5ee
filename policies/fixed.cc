#include "policies/fixed.h"

#include "policies/choose.h"

namespace sluice {
namespace {

class Fixed final : public Policy {
 public:
  explicit Fixed(std::int32_t level) : level_(level) {}

  Decision decide(const Observation& observation) override {
    if (observation.transfers_in_flight > 0) return wait("a transfer is in flight");
    const auto chunk = next_absent_chunk(observation);
    if (!chunk) return wait("every chunk is here or coming");
    return fetch(*chunk, level_, "the fixed level");
  }

 private:
  std::int32_t level_;
};

Result<std::unique_ptr<Policy>> make(const PolicyParameters& parameters,
                                     std::span<const LevelInfo> levels) {
  const Result<std::int32_t> level = find_level(parameters.at("level"), levels);
  if (!level) return level.error();
  return std::unique_ptr<Policy>(std::make_unique<Fixed>(*level));
}

}  // namespace

PolicyEntry fixed_entry() {
  return {
      .id = "fixed",
      .version = 1,
      .summary = "every chunk at one level",
      .clairvoyant = false,
      .parameters = {{"level",
                      "the level, by id (`int8@token`) or, where it is unique, by name (`2`)", ""}},
      .make = make};
}

}  // namespace sluice
