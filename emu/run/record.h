// A stored run's observations as a scenario: the throughput that its transfers achieved becomes the
// link that others can be tried on.
// Where in the flow: reads the store (7), writes a folder that step 1 reads; emu/cli/record.cc.
// Surprise: achieved throughput is what this run's policy got, not what the link had, so a replay
// is biased against policies that would have asked for more (CausalSim, NSDI 2023).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "analysis/store/store.h"
#include "base/result.h"
#include "sim/session/record.h"
#include "traces/link_trace.h"

namespace sluice {

struct ObservedLink {
  LinkTrace trace;           // achieved payload throughput, the loads' windows one after the other
  Duration one_way_delay{};  // half of the shortest time from a request to its first byte
  std::int64_t shortest_context = 0, longest_context = 0;  // tokens
};

// From first byte to arrival a transfer has its bytes over that time; transfers that overlap add
// up; a gap keeps the rate before it, and the time before the first byte has the first rate. Error
// when nothing moved.
[[nodiscard]] Result<ObservedLink> observe_link(std::span<const LoadRecord> loads);

struct RecordOptions {
  std::filesystem::path folder;  // must not exist
  std::string name;              // of the scenario
  std::string command;           // for the README
};

// Writes trace.csv, scenario.yaml and README.md, all or nothing. Returns what could not be
// recovered, one sentence each. Refuses arrivals that share a link, several cables, a link clocked
// by chunks, and models, profiles or devices that are not shipped.
[[nodiscard]] Result<std::vector<std::string>> record_scenario(const Store& store,
                                                               const RunRow& run,
                                                               const RecordOptions& options);

}  // namespace sluice
