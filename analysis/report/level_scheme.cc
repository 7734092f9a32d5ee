#include "analysis/report/level_scheme.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/report/palette.h"

namespace sluice {
namespace {

// Empty when the text has no ladder in it.
std::vector<std::string> ladder_in(std::string_view canonical) {
  std::vector<std::string> levels;
  const auto json = nlohmann::json::parse(canonical, nullptr, false);
  if (!json.is_object() || !json.contains("ladder") || !json["ladder"].is_object()) return levels;
  const auto& ladder = json["ladder"];
  if (!ladder.contains("levels") || !ladder["levels"].is_array()) return levels;
  for (const auto& level : ladder["levels"]) {
    if (level.is_object() && level.contains("id") && level["id"].is_string()) {
      levels.push_back(level["id"].get<std::string>());
    }
  }
  return levels;
}

}  // namespace

LevelScheme::LevelScheme(std::string_view canonical_scenario,
                         const std::set<std::string>& used_levels)
    : levels_(ladder_in(canonical_scenario)) {
  for (const std::string& level : used_levels) {
    if (level == kRecomputeShare || level == kNoneShare || level == kReusedLevel) continue;
    if (std::find(levels_.begin(), levels_.end(), level) == levels_.end()) levels_.push_back(level);
  }
}

std::string LevelScheme::class_of(std::string_view level) const {
  if (level == kRecomputeShare) return kRecomputeClass;
  const auto found = std::find(levels_.begin(), levels_.end(), level);
  if (found == levels_.end()) return kUnknownLevelClass;
  return level_class(static_cast<std::size_t>(found - levels_.begin()), levels_.size());
}

std::size_t LevelScheme::rank(std::string_view level) const {
  const auto found = std::find(levels_.begin(), levels_.end(), level);
  return static_cast<std::size_t>(found - levels_.begin()) + (level == kNoneShare ? 1 : 0);
}

bool LevelScheme::before(std::string_view a, std::string_view b) const {
  return rank(a) < rank(b);
}

std::string share_name(const ChunkRecord& chunk) {
  switch (chunk.action) {
    case ChunkAction::kFetched:
    case ChunkAction::kReused:
      return chunk.level;
    case ChunkAction::kRecomputed:
      return std::string(kRecomputeShare);
    case ChunkAction::kNone:
      return std::string(kNoneShare);
  }
  return std::string(kNoneShare);
}

}  // namespace sluice
