// How fast whole loads are simulated in the fluid tier: session, policy, network, decode, GPU; no
// scoring. With a store also how fast they are simulated and stored, as a campaign does it. Loads
// per second of processor time on one core, for each policy of a scenario. Measures, asserts
// nothing.
// Usage: sim_speed SCENARIO.yaml [LOADS PER RUN [SECONDS [CHUNKS PER LOAD [STORE [GAP]]]]]
// 0 chunks per load: the contexts of the scenario. STORE must not exist and is left behind; `-`:
// none. GAP: the loads of a run arrive on one network, so many seconds apart.
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <optional>

#include "analysis/store/store.h"
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

// Where the runs of one policy go.
class Shelf {
 public:
  Shelf(const std::filesystem::path& file, const Scenario& scenario, const PolicySpec& policy)
      : store_(must(Store::open(file))) {
    scenario_ = must(store_.add_scenario({.name = scenario.name, .canonical = scenario.canonical}));
    policy_ = must(store_.add_policy({.name = policy.name(), .version = "1", .params = ""}));
    campaign_ = must(store_.add_campaign({.command = {"sim_speed"},
                                          .scenario_argument = scenario.name,
                                          .num_replicates = scenario.replicates,
                                          .started_at = wall_now(),
                                          .build = this_build(),
                                          .host = this_host()}));
  }
  void put(std::int64_t replicate, const RunOutcome& run) {
    const RunKey key{scenario_, policy_, replicate, "fluid", 1};
    must(store_.claim(key, campaign_));
    const LinkTraceId trace = must(store_.add_link_trace(facts_of(run.trace)));
    must(store_.write_run(key, {.link_trace = trace, .link_trace_offset = run.trace_offset},
                          run.metrics, run.loads));
  }

 private:
  Store store_;
  ScenarioId scenario_;
  PolicyId policy_;
  CampaignId campaign_;
};

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

void measure(const Scenario& scenario, const PolicySpec& policy, double seconds, Shelf* shelf) {
  std::size_t num_loads = 0, num_chunks = 0;
  double took = 0, stored = 0;
  const double begun = processor_seconds();
  for (std::int64_t replicate = 0; took < seconds; ++replicate) {
    const RunOutcome run = must(run_replicate(scenario, policy, replicate, "fluid"));
    num_loads += run.loads.size();
    for (const LoadRecord& load : run.loads) num_chunks += load.chunks.size();
    const double simulated = processor_seconds();
    if (shelf) shelf->put(replicate, run);
    stored += processor_seconds() - simulated;
    took = processor_seconds() - begun;
  }
  const auto loads = static_cast<double>(num_loads);
  const double each_us = took / loads * 1e6, stored_us = stored / loads * 1e6;
  fmt::print("{:34} {:>9.0f} loads/s {:>8.2f} us per load of {:.1f} chunks", policy.name(),
             loads / took, each_us, static_cast<double>(num_chunks) / loads);
  if (shelf) fmt::print(", {:.2f} of them to store it", stored_us);
  fmt::print("\n");
}

}  // namespace
}  // namespace sluice

int main(int argc, char** argv) {
  using namespace sluice;
  const std::string store = argc > 5 ? argv[5] : "-";
  if (argc < 2 || std::filesystem::exists(store)) {
    fmt::print(stderr, "error: {}\n",
               argc < 2 ? "no scenario; name a scenario.yaml"
                        : "the store is there already; name a file that does not exist yet");
    return 1;
  }
  Scenario scenario = must(read_scenario(argv[1], {}));
  scenario.workload.loads = std::max(argc > 2 ? std::atoll(argv[2]) : 1000, 1LL);
  const double seconds = argc > 3 ? std::atof(argv[3]) : 1.0;
  const std::int64_t context_tokens = (argc > 4 ? std::atoll(argv[4]) : 0) * scenario.chunk_tokens;
  if (context_tokens > 0) scenario.workload.context_tokens = {context_tokens, context_tokens};
  if (argc > 6) scenario.workload.arrivals = EveryArrivals{seconds_to_duration(std::atof(argv[6]))};
  for (const PolicySpec& policy : scenario.policies) {
    std::optional<Shelf> shelf;
    if (store != "-") shelf.emplace(store, scenario, policy);
    measure(scenario, policy, seconds, shelf ? &*shelf : nullptr);
  }
}
