#include "emu/run/rehearsal.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/sha256.h"
#include "sim/scenario/canonical.h"

namespace sluice {
namespace {

using Place = std::pair<std::int32_t, std::int64_t>;  // as in MeasuredChunks
using Factors = std::vector<double>;

double median_of(Factors factors) {
  const auto middle = factors.begin() + static_cast<std::ptrdiff_t>(factors.size() / 2);
  std::nth_element(factors.begin(), middle, factors.end());
  return *middle;
}

std::optional<std::size_t> find_level(const CodecProfile& ladder, const std::string& id) {
  for (std::size_t i = 0; i < ladder.levels.size(); ++i) {
    if (ladder.levels[i].id() == id) return i;
  }
  return std::nullopt;
}

// Of each place: how many times the planned time its decodes took.
std::map<Place, Factors> observed(const MeasuredChunks& measured, const CodecProfile& ladder,
                                  const std::vector<LoadRecord>& loads) {
  std::map<Place, Factors> factors;
  for (const LoadRecord& load : loads) {
    for (const ChunkRecord& chunk : load.chunks) {
      const Place place{chunk.index, chunk.tokens};
      const auto planned = measured.chunks.find(place);
      const auto level = find_level(ladder, chunk.level);
      if (!level || planned == measured.chunks.end()) continue;
      if (!chunk.compute_began_at || !chunk.resident_at) continue;
      const Duration alone = planned->second.levels[*level].decode_time;
      if (alone <= Duration::zero()) continue;
      factors[place].push_back(to_seconds(*chunk.resident_at - *chunk.compute_began_at) /
                               to_seconds(alone));
    }
  }
  return factors;
}

}  // namespace

MeasuredChunks with_decodes_of(const MeasuredChunks& measured, const CodecProfile& ladder,
                               const std::vector<LoadRecord>& loads) {
  const std::map<Place, Factors> factors = observed(measured, ladder, loads);
  if (factors.empty()) return measured;
  Factors all;
  for (const auto& [place, of_place] : factors)
    all.insert(all.end(), of_place.begin(), of_place.end());
  const double elsewhere = median_of(std::move(all));
  MeasuredChunks stretched = measured;
  std::string text = measured.sha256 + "\n";
  for (auto& [place, chunk] : stretched.chunks) {
    const auto found = factors.find(place);
    const double factor = found == factors.end() ? elsewhere : median_of(found->second);
    for (LevelCost& level : chunk.levels) {
      level.decode_time = seconds_to_duration(to_seconds(level.decode_time) * factor);
      text += fmt::format("{} {} {}\n", place.first, place.second, to_ns(level.decode_time));
    }
  }
  stretched.sha256 = sha256_hex(std::string_view(text));
  return stretched;
}

Result<ScenarioContents> rehearse(ScenarioContents contents, const PolicySpec& policy,
                                  const EmulationOptions& options) {
  const Result<RunOutcome> outcome = EmulatedRuns(contents, options).run(policy, 0);
  if (!outcome) return outcome.error();
  Scenario& s = contents.scenario;
  s.measured = std::make_shared<const MeasuredChunks>(
      with_decodes_of(*s.measured, s.ladder, outcome->loads));
  s.canonical = canonical_text(s);
  s.sha256 = sha256_of_canonical(s.canonical);
  return contents;
}

}  // namespace sluice
