#include "sim/scenario/ladder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/assert.h"

namespace sluice {
namespace {

template <typename Choose>
std::string sources(const CodecProfile& ladder, Choose choose) {
  std::set<std::string> words;
  for (const LevelFacts& level : ladder.levels) {
    if (const std::optional<FactSource> source = choose(level)) words.insert(to_text(*source));
  }
  return fmt::format("{}", fmt::join(words, "/"));
}

}  // namespace

std::vector<LevelInfo> level_infos(const CodecProfile& ladder) {
  std::vector<LevelInfo> levels;
  levels.reserve(ladder.levels.size());
  const auto index_of = [&](const std::string& codec, const std::string& level) {
    const auto at = std::find_if(
        ladder.levels.begin(), ladder.levels.end(),
        [&](const LevelFacts& facts) { return facts.codec == codec && facts.level == level; });
    SLUICE_ASSERT(at != ladder.levels.end(), "a ladder refines a level that it does not have");
    return static_cast<std::int32_t>(at - ladder.levels.begin());
  };
  for (const LevelFacts& facts : ladder.levels) {
    levels.push_back({.id = facts.id(),
                      .codec = facts.codec,
                      .level = facts.level,
                      .damage = facts.damage,
                      .refines = {}});
    if (facts.refines) levels.back().refines = index_of(facts.codec, *facts.refines);
  }
  return levels;
}

std::string describe_ladder(const CodecProfile& ladder, const std::string& taken_on, bool decode) {
  const std::string sizes =
      sources(ladder, [](const LevelFacts& l) { return std::optional(l.size_source); });
  const std::string damage =
      sources(ladder, [](const LevelFacts& l) { return std::optional(l.damage_source); });
  std::string times = "not charged";
  if (decode) {
    times = sources(ladder, [](const LevelFacts& l) {
      return l.decode ? std::optional(l.decode->source) : std::nullopt;
    });
  }
  return fmt::format("sizes {}, {} {}, decode {}; taken on {}", sizes, ladder.damage_measure,
                     damage, times, taken_on);
}

std::string describe_device(const ComputeDevice& device) {
  std::set<std::string> words;
  if (const auto* roofline = std::get_if<RooflinePrefill>(&device.prefill)) {
    words = {to_text(roofline->dense_flops_per_sec.source),
             to_text(roofline->attention_flops_per_sec.source)};
  } else {
    words = {to_text(std::get<ConstantPrefill>(device.prefill).recompute_s.source)};
  }
  return fmt::format("prefill {}", fmt::join(words, "/"));
}

}  // namespace sluice
