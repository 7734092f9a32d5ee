// A scenario, resolved: everything that a run needs besides the policy, the replicate and the tier.
// Where in the flow: read from scenarios/<name>/scenario.yaml (or any file); the runner turns it
// into runs.
// Surprise: `canonical` is what the results depend on, with the content hashes of every file it
// pulled in; replicates, tiers, policies and scoring are not in it, so that more of them extend a
// store instead of starting over.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "codec/geometry/geometry.h"
#include "codec/profile.h"
#include "policies/registry.h"
#include "sim/net/network.h"
#include "sim/scenario/measured_chunks.h"
#include "sim/scenario/topology_setting.h"
#include "sim/scenario/workload_setting.h"
#include "sim/serving/compute/compute_device.h"

namespace sluice {

struct Scenario {
  std::string name, question, file;
  std::string variant;  // "link.delay=10ms": which one of the file's matrix; empty without one
  std::uint64_t seed = 0;
  std::int64_t replicates = 0;
  std::vector<std::string> tiers;  // the first is the default
  TopologySetting topology;
  std::vector<CrossTraffic> cross_traffic;
  Duration warm_up{};  // cross traffic runs so long before the first load of a run arrives
  TransportSpec transport;
  // Of store and client together for each request, beyond the network; they take it side by side.
  Duration request_time{};
  ModelGeometry model;
  CodecProfile ladder;  // chosen levels only, on this model, with this device's decode times
  std::string ladder_taken_on;  // the profile's own model
  std::string ladder_words;     // where sizes, times and damage come from, for the tables
  std::int64_t chunk_tokens = 0;
  // Where contexts exist: each chunk that a load may have. Null: sizes and times are the ladder's.
  std::shared_ptr<const MeasuredChunks> measured;
  ComputeDevice device;
  bool decode = true;     // false: decoding takes no time
  bool recompute = true;  // false: no chunk can be recomputed
  WorkloadSetting workload;
  Duration slo{};
  std::vector<PolicySpec> policies;
  double delta = 0.01;    // violation rates closer than this are equivalent
  std::string canonical;  // JSON
  std::string sha256;     // of canonical

  // The name, and the variant in brackets.
  [[nodiscard]] std::string title() const {
    return variant.empty() ? name : name + " [" + variant + "]";
  }
};

// What the command line puts in the place of the file's values.
struct ScenarioOverrides {
  std::optional<std::uint64_t> seed;
  std::optional<std::int64_t> replicates;
  // Replaces the link's capacity; several traces run once each.
  std::optional<std::string> link_trace_file;
  std::vector<std::string> policies;  // replaces the list when not empty
  std::vector<std::string> tiers;
  std::optional<std::string> variant;  // only this one
};

// `name` is a name in scenarios/, a folder with scenario.yaml, or a file.
[[nodiscard]] Result<std::filesystem::path> find_scenario(const std::string& name);
// One for each variant of the file's matrix, in its order; one where there is no matrix.
[[nodiscard]] Result<std::vector<Scenario>> read_scenarios(const std::filesystem::path& file,
                                                           const ScenarioOverrides& overrides);
// The first of them.
[[nodiscard]] Result<Scenario> read_scenario(const std::filesystem::path& file,
                                             const ScenarioOverrides& overrides);

// The shipped ones, sorted.
[[nodiscard]] Result<std::vector<std::filesystem::path>> shipped_scenarios();

[[nodiscard]] const std::vector<std::string>& known_tiers();

}  // namespace sluice
