#include "policies/choose.h"

#include <algorithm>

namespace sluice {

std::optional<std::int32_t> next_absent_chunk(const Observation& observation) {
  for (const ChunkView& chunk : observation.chunks) {
    if (chunk.phase == ChunkPhase::kAbsent) return chunk.index;
  }
  return std::nullopt;
}

bool anything_coming(const Observation& observation) {
  return std::any_of(observation.chunks.begin(), observation.chunks.end(),
                     [](const ChunkView& c) { return c.fetching.has_value() || c.recomputing; });
}

DataSize remaining_size(const Observation& observation, std::int32_t level) {
  DataSize sum;
  for (const ChunkView& chunk : observation.chunks) {
    if (chunk.phase == ChunkPhase::kAbsent)
      sum += chunk.levels[static_cast<std::size_t>(level)].size;
  }
  return sum;
}

std::optional<Duration> remaining_recompute_time(const Observation& observation) {
  Duration sum{};
  for (const ChunkView& chunk : observation.chunks) {
    if (chunk.phase != ChunkPhase::kAbsent) continue;
    if (!chunk.recompute_time) return std::nullopt;
    sum += *chunk.recompute_time;
  }
  return sum;
}

Decision fetch(std::int32_t chunk, std::int32_t level, std::string reason) {
  return {{Fetch{.chunk = chunk, .level = level, .connections = 1}}, std::move(reason)};
}

Decision recompute(std::int32_t chunk, std::string reason) {
  return {{Recompute{.chunk = chunk}}, std::move(reason)};
}

Decision wait(std::string reason) {
  return {{Wait{}}, std::move(reason)};
}

std::vector<std::int32_t> levels_of_codec(std::span<const LevelInfo> levels,
                                          const std::string& codec) {
  std::vector<std::int32_t> own, all;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    all.push_back(static_cast<std::int32_t>(i));
    if (levels[i].codec == codec) own.push_back(static_cast<std::int32_t>(i));
  }
  return own.empty() ? all : own;
}

}  // namespace sluice
