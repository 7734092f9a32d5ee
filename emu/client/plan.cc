#include "emu/client/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/scenario/ladder.h"

namespace sluice {
namespace {

constexpr const char* kMakeAgain = "make the contents from the scenario's ladder";

// The next level below that this one extends on every chunk.
std::optional<std::int32_t> refined_by(const Catalogue& catalogue, std::size_t level) {
  for (std::size_t lower = level + 1; lower < catalogue.levels.size(); ++lower) {
    const bool extends =
        std::all_of(catalogue.chunks.begin(), catalogue.chunks.end(), [&](const ChunkEntry& c) {
          return c.versions[level].size_beyond(c.versions[lower]).has_value();
        });
    if (extends) return static_cast<std::int32_t>(lower);
  }
  return std::nullopt;
}

Result<std::vector<LevelInfo>> plan_levels(const Catalogue& catalogue, const Scenario* scenario) {
  std::vector<LevelInfo> levels;
  const std::vector<LevelInfo> ladder =
      scenario ? level_infos(scenario->ladder) : std::vector<LevelInfo>();
  auto next = ladder.begin();
  for (std::size_t i = 0; i < catalogue.levels.size(); ++i) {
    const std::string& id = catalogue.levels[i];
    const std::size_t at = id.find('@');
    LevelInfo info{.id = id,
                   .codec = id.substr(0, at),
                   .level = at == std::string::npos ? "" : id.substr(at + 1)};
    if (scenario) {
      next = std::find_if(next, ladder.end(), [&](const LevelInfo& l) { return l.id == id; });
      if (next == ladder.end()) {
        return error_in(scenario->file,
                        fmt::format("its ladder has no {} at the catalogue's place", id),
                        kMakeAgain);
      }
      info.damage = next->damage;
    }
    info.refines = refined_by(catalogue, i);
    levels.push_back(std::move(info));
  }
  return levels;
}

ChunkPlan plan_chunk(const Catalogue& catalogue, std::size_t index, std::int64_t position,
                     const Scenario* scenario) {
  const ChunkEntry& entry = catalogue.chunks[index];
  ChunkPlan chunk;
  chunk.tokens = entry.tokens;
  chunk.decoded_size = entry.decoded_size;
  chunk.text_size = entry.text_size;
  chunk.stored_as = static_cast<std::int32_t>(index);
  for (const ChunkVersion& version : entry.versions)
    chunk.levels.push_back({.size = version.size, .decode_time = version.decode_time});
  if (scenario && scenario->recompute)
    chunk.recompute_time = scenario->device.prefill_time(scenario->model, entry.tokens, position);
  return chunk;
}

}  // namespace

Result<LoadPlan> plan_from_catalogue(const Catalogue& catalogue, std::int64_t index,
                                     const CataloguePlanOptions& options) {
  if (catalogue.chunks.empty() || catalogue.levels.empty())
    return error_in("catalogue", "has no chunks or no levels", "make the contents again");
  const Scenario* scenario = options.scenario;
  if (!options.slo && !scenario)
    return error_in("--slo", "is missing", "give --slo 1s, or a scenario that has one");
  LoadPlan plan;
  plan.index = index;
  Result<std::vector<LevelInfo>> levels = plan_levels(catalogue, scenario);
  if (!levels) return levels.error();
  plan.levels = std::move(*levels);
  std::int64_t position = 0;
  for (std::size_t i = 0; i < catalogue.chunks.size(); ++i) {
    plan.chunks.push_back(plan_chunk(catalogue, i, position, scenario));
    position += catalogue.chunks[i].tokens;
  }
  plan.slo = options.slo ? *options.slo : scenario->slo;
  if (scenario) {
    plan.first_token_time = scenario->device.first_token_time(
        scenario->model, scenario->workload.query_tokens, position);
  }
  plan.source = NodeId{0};
  plan.destination = NodeId{1};
  plan.clairvoyant = options.clairvoyant;
  return plan;
}

}  // namespace sluice
