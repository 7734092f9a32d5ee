#include "policies/cachegen_released.h"

#include <fmt/format.h>

#include "base/assert.h"
#include "policies/choose.h"

namespace sluice {
namespace {

// The script's round(length / chunk) (Python's round: half to even), not the number of chunks;
// never below one.
std::int64_t rounded_chunk_count(const Observation& observation) {
  std::int64_t tokens = 0;
  for (const ChunkView& chunk : observation.chunks) tokens += chunk.tokens;
  const std::int64_t per_chunk = std::max<std::int64_t>(1, observation.chunks.front().tokens);
  const std::int64_t whole = tokens / per_chunk;
  const std::int64_t twice_rest = 2 * (tokens % per_chunk);
  const bool up = twice_rest > per_chunk || (twice_rest == per_chunk && whole % 2 == 1);
  return std::max<std::int64_t>(1, whole + (up ? 1 : 0));
}

class CacheGenReleased final : public Policy {
 public:
  explicit CacheGenReleased(std::vector<std::int32_t> levels) : levels_(std::move(levels)) {}

  Decision decide(const Observation& observation) override {
    if (anything_coming(observation)) return wait("one chunk after the other");
    const auto chunk = next_absent_chunk(observation);
    if (!chunk) return wait("every chunk is here or coming");
    SLUICE_ASSERT(observation.foresight, "a clairvoyant policy was asked without foresight");
    const DataRate rate = observation.foresight->next_chunk_rate;
    const Duration budget =
        (observation.deadline - observation.arrived_at) / rounded_chunk_count(observation);
    const ChunkView& view = observation.chunks[static_cast<std::size_t>(*chunk)];
    for (const std::int32_t level : levels_) {
      const DataSize size = view.levels[static_cast<std::size_t>(level)].size;
      if (rate > DataRate::zero() && size / rate < budget) {
        return fetch(*chunk, level,
                     fmt::format("finest level within {} at {}", to_text(budget), to_text(rate)));
      }
    }
    const std::string why = fmt::format("no level fits {} at {}", to_text(budget), to_text(rate));
    if (view.recompute_time) return recompute(*chunk, why);
    return fetch(*chunk, levels_.back(), why + ", and recomputing is not possible");
  }

 private:
  std::vector<std::int32_t> levels_;  // least damage first
};

Result<std::unique_ptr<Policy>> make(const PolicyParameters& parameters,
                                     std::span<const LevelInfo> levels) {
  return std::unique_ptr<Policy>(
      std::make_unique<CacheGenReleased>(levels_of_codec(levels, parameters.at("codec"))));
}

}  // namespace

PolicyEntry cachegen_released_entry() {
  return {.id = "cachegen-released",
          .version = 1,
          .summary =
              "finest level whose transfer fits an even share of the SLO, at the coming chunk's "
              "true rate",
          .clairvoyant = true,
          .parameters =
              {{"codec",
                "choose among this codec's levels (all levels where the ladder has none of it)",
                "cachegen-released"}},
          .make = make};
}

}  // namespace sluice
