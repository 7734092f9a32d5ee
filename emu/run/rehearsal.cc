#include "emu/run/rehearsal.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/sha256.h"
#include "emu/run/single_link.h"
#include "sim/scenario/canonical.h"
#include "sim/serving/draws.h"
#include "sim/serving/topology.h"

namespace sluice {
namespace {

using Place = std::pair<std::int32_t, std::int64_t>;  // as in MeasuredChunks
using Factors = std::vector<double>;

constexpr std::size_t kLoads = 5;  // at least, of which medians are taken

template <typename Value>
Value median_of(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
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

// Nothing is on its way when the chunk is asked for, and the connection is there already.
bool waits_for_nothing(const LoadRecord& load, const ChunkRecord& chunk) {
  bool is_first = true;
  for (const ChunkRecord& other : load.chunks) {
    if (!other.requested_at || *other.requested_at >= *chunk.requested_at) continue;
    is_first = false;
    if (!other.arrived_at || *other.arrived_at > *chunk.requested_at) return false;
  }
  return !is_first;
}

// Propagation there and back, with what jitter adds on average.
Result<Duration> mean_round_trip(const Scenario& s) {
  const Result<ReplicateDraws> draws = draw_replicate(s, 0);
  if (!draws) return draws.error();
  const EmulatedLinkSpec link =
      emulated_link_of(make_topology(s, *draws, {.replicate = 0, .first_load = 0}));
  return mean_delay(link.down) + mean_delay(link.up) + (link.down.jitter + link.up.jitter) / 2;
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

std::optional<Duration> request_time_of(const std::vector<LoadRecord>& loads, Duration round_trip) {
  std::vector<Duration> times;
  for (const LoadRecord& load : loads) {
    for (const ChunkRecord& chunk : load.chunks) {
      if (chunk.requested_at && chunk.first_byte_at && waits_for_nothing(load, chunk))
        times.push_back(*chunk.first_byte_at - *chunk.requested_at - round_trip);
    }
  }
  if (times.empty()) return std::nullopt;
  return std::max(Duration::zero(), median_of(std::move(times)));
}

Status rehearse(ScenarioContents& contents, EmulatedRuns& runs, const PolicySpec& policy) {
  Scenario& s = contents.scenario;
  const Result<Duration> round_trip = mean_round_trip(s);
  if (!round_trip) return round_trip.error();
  std::vector<LoadRecord> loads;
  for (std::int64_t run = 0; loads.size() < kLoads + 1; ++run) {
    Result<RunOutcome> outcome = runs.run(policy, run % s.replicates);
    if (!outcome) return outcome.error();
    if (outcome->loads.empty()) break;
    std::ranges::move(outcome->loads, std::back_inserter(loads));
  }
  if (!loads.empty()) loads.erase(loads.begin());
  s.measured =
      std::make_shared<const MeasuredChunks>(with_decodes_of(*s.measured, s.ladder, loads));
  s.request_time = request_time_of(loads, *round_trip).value_or(s.request_time);
  s.canonical = canonical_text(s);
  s.sha256 = sha256_of_canonical(s.canonical);
  return {};
}

}  // namespace sluice
