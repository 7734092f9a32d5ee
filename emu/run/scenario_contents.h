// The chunks that a scenario's loads need, encoded, and the scenario as it is with them.
// Where in the flow: before a run; simulation and emulation then plan with the same sizes and
// decode times.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "emu/contents/contents.h"
#include "sim/scenario/scenario.h"

namespace sluice {

struct ScenarioContentsOptions {
  std::optional<std::filesystem::path> capture;  // values of the chunks; absent: made values
  DataSize size_max = DataSize::bytes(std::int64_t{6} << 30);  // of all encoded chunks
  int threads = 2;                                             // of making
  int decode_threads = 1;                                      // of each decode in a run
  std::function<void(std::int64_t done, std::int64_t all)> on_progress;
};

struct ScenarioContents {
  Scenario scenario;  // with `measured`, and the hash that goes with it
  std::shared_ptr<const Contents> contents;
  ContextId context;  // holds every chunk of every load once
};

// Equal places and lengths in a context share a chunk. Errors: a level whose codec this build does
// not have, chunks larger than size_max.
[[nodiscard]] Result<ScenarioContents> make_scenario_contents(
    Scenario scenario, const ScenarioContentsOptions& options);

}  // namespace sluice
