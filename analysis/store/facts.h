// What the store keeps about where a result came from: the inputs by content, the build, the host,
// the command.
// Where in the flow: the runner fills these in before it runs; `explain` reads them back.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "traces/link_trace.h"

namespace sluice {

// The time of day, for provenance only; no result depends on it.
using WallTime = std::chrono::sys_time<std::chrono::nanoseconds>;
[[nodiscard]] WallTime wall_now();

// A row of one table. `value` is the row's id in this one file and means nothing in another.
template <typename Tag>
struct RowId {
  std::int64_t value = 0;
  auto operator<=>(const RowId&) const = default;
};
using ScenarioId = RowId<struct ScenarioTag>;
using PolicyId = RowId<struct PolicyTag>;
using LinkTraceId = RowId<struct LinkTraceTag>;
using ProfileId = RowId<struct ProfileTag>;
using CampaignId = RowId<struct CampaignTag>;
using RunId = RowId<struct RunTag>;

// `canonical` must hold all that the results depend on besides policy, replicate, tier and seed:
// where
// --link-trace replaces the link, the trace's SHA-256 belongs in it. Two scenarios are one when it
// is equal.
struct ScenarioFacts {
  std::string name;
  std::string canonical;
  std::string question;  // in words, for people; two questions do not make two scenarios
};

struct PolicyFacts {
  std::string name;
  std::string version;
  std::string params;  // "k=v,k=v" in a fixed order; what `version` pins may be left out
};

struct LinkTraceFacts {
  std::string name, reader, unit, sha256;
  TraceKind kind = TraceKind::kCapacity;
  std::int64_t num_rows = 0, num_skipped = 0;
};
[[nodiscard]] LinkTraceFacts facts_of(const LinkTrace& trace);

// A codec's or a compute device's profile.
struct ProfileFacts {
  std::string name;  // its id
  std::string sha256, model, device;
  std::string source;  // in words: measured, published or scaled, from where
};

struct BuildFacts {
  std::string commit;  // empty when it was not built from a git checkout
  bool dirty = false;  // the checkout had changes that no commit holds
  std::string compiler, flags;
  std::string ns3_version;  // empty when built without
  std::string sqlite_version;
};
[[nodiscard]] BuildFacts this_build();

struct HostFacts {
  std::string name, system, cpu;
  std::int64_t num_cpus = 0;
};
[[nodiscard]] HostFacts this_host();

// One invocation of `sim`, resolved: what `explain` needs to write the command again.
struct CampaignFacts {
  std::vector<std::string> command;            // argv
  std::string scenario_argument;               // as given: a name, folder or file
  std::optional<std::string> link_trace_file;  // --link-trace, as given
  std::int64_t num_replicates = 0;
  WallTime started_at{};
  BuildFacts build;
  HostFacts host;
};

}  // namespace sluice
