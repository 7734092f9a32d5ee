// How fast whole loads are simulated in the fluid tier: session, policy, network, decode, GPU; no
// scoring and no storing. Loads per second of processor time on one core, for each policy of a
// scenario. Measures, asserts nothing. Usage: sim_speed SCENARIO.yaml [LOADS PER RUN [SECONDS]]
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

#include "sim/serving/run.h"

namespace sluice {
namespace {

// Ends the program with the error's line.
template <typename T>
T must(Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().to_line());
  std::exit(1);
}

void measure(const Scenario& scenario, const PolicySpec& policy, double seconds) {
  std::size_t num_loads = 0, num_chunks = 0;
  double took = 0;
  const std::clock_t begun = std::clock();
  for (std::int64_t replicate = 0; took < seconds; ++replicate) {
    const RunOutcome run = must(run_replicate(scenario, policy, replicate, "fluid"));
    num_loads += run.loads.size();
    for (const LoadRecord& load : run.loads) num_chunks += load.chunks.size();
    took = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  }
  const auto loads = static_cast<double>(num_loads);
  fmt::print("{:34} {:>9.0f} loads/s {:>8.2f} us per load of {:.1f} chunks\n", policy.name(),
             loads / took, took / loads * 1e6, static_cast<double>(num_chunks) / loads);
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  using namespace sluice;
  if (argc < 2) {
    fmt::print(stderr, "error: no scenario; name a scenario.yaml\n");
    return 1;
  }
  Scenario scenario = must(read_scenario(argv[1], {}));
  scenario.workload.loads = argc > 2 ? std::atoll(argv[2]) : 1000;
  const double seconds = argc > 3 ? std::atof(argv[3]) : 1.0;
  for (const PolicySpec& policy : scenario.policies) measure(scenario, policy, seconds);
}
