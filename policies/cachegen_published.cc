#include "policies/cachegen_published.h"

#include <fmt/format.h>

#include "policies/choose.h"

namespace sluice {
namespace {

class CacheGenPublished final : public Policy {
 public:
  CacheGenPublished(std::vector<std::int32_t> levels, std::int32_t first)
      : levels_(std::move(levels)), first_(first) {}

  Decision decide(const Observation& observation) override {
    if (anything_coming(observation)) return wait("one chunk after the other");
    const auto chunk = next_absent_chunk(observation);
    if (!chunk) return wait("every chunk is here or coming");
    const Duration remaining = observation.deadline - observation.now;
    if (const auto time = remaining_recompute_time(observation);
        time && *time + observation.gpu_wait <= remaining) {
      return recompute(*chunk, fmt::format("recomputing the rest takes {} of {}", to_text(*time),
                                           to_text(remaining)));
    }
    if (observation.past.empty())
      return fetch(*chunk, first_, "nothing measured yet: the default level");
    const DataRate rate = observation.past.back().rate;
    for (const std::int32_t level : levels_) {
      if (rate > DataRate::zero() && remaining_size(observation, level) / rate <= remaining) {
        return fetch(
            *chunk, level,
            fmt::format("least lossy that fits {} at {}", to_text(remaining), to_text(rate)));
      }
    }
    return fetch(*chunk, levels_.back(),
                 fmt::format("nothing fits {} at {}", to_text(remaining), to_text(rate)));
  }

 private:
  std::vector<std::int32_t> levels_;  // least damage first
  std::int32_t first_;
};

Result<std::unique_ptr<Policy>> make(const PolicyParameters& parameters,
                                     std::span<const LevelInfo> levels) {
  std::vector<std::int32_t> own = levels_of_codec(levels, parameters.at("codec"));
  std::int32_t first = own[own.size() / 2];
  if (const std::string& name = parameters.at("first"); name != "middle") {
    const Result<std::int32_t> level = find_level(name, levels);
    if (!level) return level.error();
    first = *level;
  }
  return std::unique_ptr<Policy>(std::make_unique<CacheGenPublished>(std::move(own), first));
}

}  // namespace

PolicyEntry cachegen_published_entry() {
  return {
      .id = "cachegen-published",
      .version = 1,
      .summary = "least lossy choice that fits the remaining time at the last chunk's throughput",
      .clairvoyant = false,
      .parameters =
          {{"codec",
            "choose among this codec's levels (all levels where the ladder has none of it)",
            "cachegen-released"},
           {"first", "level of the first chunk, or `middle` of the ladder", "middle"}},
      .make = make};
}

}  // namespace sluice
