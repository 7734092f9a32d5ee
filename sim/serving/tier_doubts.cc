#include "sim/serving/tier_doubts.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/net/validity.h"
#include "sim/serving/topology.h"

namespace sluice {
namespace {

constexpr std::size_t kNamed = 3;

// A way back that is like the way there.
bool is_said_of_the_way_there(const TopologySetting& topology, const std::string& doubt) {
  return std::any_of(
      topology.cables.begin(), topology.cables.end(), [&](const CableSetting& cable) {
        return !cable.back && doubt.find("'" + cable.name + " (back)'") != std::string::npos;
      });
}

}  // namespace

Result<std::vector<std::string>> tier_doubts(const Scenario& s, const std::string& tier) {
  const Result<ReplicateDraws> draws = draw_replicate(s, 0);
  if (!draws) return draws.error();
  const TopologySpec topology = make_topology(s, *draws, {.replicate = 0, .first_load = 0});
  if (Status sound = check_topology(topology, s.transport); !sound) return sound.error();
  if (Status able = check_tier(tier, topology, s.transport); !able) return able.error();
  std::vector<std::string> doubts;
  std::size_t num_more = 0;
  for (std::string& doubt : doubts_about(tier, topology, s.transport)) {
    if (is_said_of_the_way_there(s.topology, doubt)) continue;
    doubts.size() < kNamed ? doubts.push_back(std::move(doubt)) : void(++num_more);
  }
  if (num_more > 0) doubts.push_back(fmt::format("{}: {} more of this kind", tier, num_more));
  return doubts;
}

}  // namespace sluice
