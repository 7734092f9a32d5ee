// The order and colours of the levels of one scenario: the ladder's order, finest first.
// Surprise: the ladder comes from the scenario's canonical text; levels it does not name follow by
// name, so that a store of another making is still shown.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/session/record.h"

namespace sluice {

// As the score names tokens that were recomputed, and those that never came.
inline constexpr std::string_view kRecomputeShare = "recompute";
inline constexpr std::string_view kNoneShare = "none";

class LevelScheme {
 public:
  LevelScheme(std::string_view canonical_scenario, const std::set<std::string>& used_levels);
  // Ladder order, finest first; without the two words above.
  [[nodiscard]] const std::vector<std::string>& levels() const { return levels_; }
  // Takes the two words above, too.
  [[nodiscard]] std::string class_of(std::string_view level) const;
  // Levels by ladder order, then recomputed, then none.
  [[nodiscard]] bool before(std::string_view a, std::string_view b) const;

 private:
  [[nodiscard]] std::size_t rank(std::string_view level) const;
  std::vector<std::string> levels_;
};

// "cachegen-released@2", "recompute", "none": the words of a level mix.
[[nodiscard]] std::string share_name(const ChunkRecord& chunk);

}  // namespace sluice
