// Runs of a scenario over an emulated link with real bytes: the replicate code of the simulation on
// a real clock, real sockets and real decoding.
// Where in the flow: steps 2' and 3'; gives the outcome that the simulation gives, with the health
// of the host.
// Surprise: link, server and the memory for decoded chunks are made once and serve all runs; each
// load that arrives alone meets the link anew (rearm), with new connections.
#pragma once

#include <memory>
#include <string>

#include "emu/run/scenario_contents.h"
#include "sim/serving/run.h"

namespace sluice {

struct EmulationOptions {
  std::string emulator = "auto";
  int decode_threads = 1;
};

class EmulatedRuns {
 public:
  // `contents` outlives it. Nothing is opened before the first run.
  EmulatedRuns(const ScenarioContents& contents, EmulationOptions options);
  ~EmulatedRuns();

  // In real time. Errors: no emulator for this link here, a server that cannot start.
  [[nodiscard]] Result<RunOutcome> run(const PolicySpec& policy, std::int64_t replicate);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice
