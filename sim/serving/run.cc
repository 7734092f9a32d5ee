#include "sim/serving/run.h"

#include <algorithm>

#include "sim/serving/draws.h"
#include "sim/serving/engine.h"
#include "sim/serving/plan.h"
#include "sim/session/session.h"
#include "sim/session/sim_gpu.h"

namespace sluice {
namespace {

constexpr LinkId kDownLink{0};

// `edge-single`: one store, one GPU node, one link there and back.
TopologySpec single_link(const Scenario& s, const LinkTrace& trace, Duration offset) {
  TopologySpec topology;
  topology.nodes = {"store", "gpu"};
  add_cable(topology, {.name = "link",
                       .from = NodeId{0},
                       .to = NodeId{1},
                       .capacity = trace,
                       .trace_offset = offset,
                       .delay = s.link.delay,
                       .queue = s.link.queue,
                       .mtu = s.link.mtu});
  return topology;
}

// One clock, network and GPU with the loads that share them.
class Stage {
 public:
  Stage(const Scenario& scenario, const PolicySpec& policy)
      : scenario_(scenario), policy_(policy) {}

  Status run(const std::string& tier, const LinkTrace& trace, std::span<const LoadDraw> draws,
             std::int64_t first_index) {
    const TopologySpec topology = single_link(scenario_, trace, draws.front().trace_offset);
    if (Status checked = check_topology(topology, scenario_.transport); !checked)
      return checked.error();
    Result<Engine> engine = make_engine(tier, topology, scenario_.transport);
    if (!engine) return engine.error();
    SimGpu gpu(*engine->clock);
    std::vector<Actor> actors(
        draws.size());  // gone before the clock, network and GPU, come what may
    if (Status ready = prepare(actors, *engine, gpu, draws, first_index); !ready)
      return ready.error();
    engine->clock->run();
    for (Actor& actor : actors) actor.session->abandon();
    take_results(actors, *engine, gpu);
    return {};
  }

  std::vector<LoadRecord> loads;
  Duration simulated_time{}, gpu_busy_time{};
  DataSize wire_bytes, wire_capacity, stored;

 private:
  struct Actor {
    LoadPlan plan;
    std::unique_ptr<Policy> policy;
    std::unique_ptr<Session> session;
    TimerId give_up;
  };

  Status prepare(std::vector<Actor>& actors, Engine& engine, Gpu& gpu,
                 std::span<const LoadDraw> draws, std::int64_t first_index) {
    num_open_ = draws.size();
    for (std::size_t i = 0; i < draws.size(); ++i) {
      Actor& actor = actors[i];
      actor.plan = plan_load(scenario_, policy_, first_index + static_cast<std::int64_t>(i),
                             draws[i].context_tokens);
      Result<std::unique_ptr<Policy>> policy = make_policy(policy_, actor.plan.levels);
      if (!policy) return policy.error();
      actor.policy = std::move(*policy);
      RunnableClock& clock = *engine.clock;
      actor.session = std::make_unique<Session>(clock, *engine.network, gpu, *actor.policy,
                                                actor.plan, [this, &clock, &actor] {
                                                  clock.cancel(actor.give_up);
                                                  if (--num_open_ == 0) clock.stop();
                                                });
      clock.schedule(draws[i].arrives_at, [this, &clock, &actor] {
        actor.give_up =
            clock.schedule_in(scenario_.workload.give_up, [&actor] { actor.session->abandon(); });
        actor.session->begin();
      });
    }
    return {};
  }

  void take_results(const std::vector<Actor>& actors, const Engine& engine, const SimGpu& gpu) {
    for (const Actor& actor : actors) {
      loads.push_back(actor.session->record());
      stored = std::max(stored, stored_size(actor.plan));
    }
    simulated_time = engine.clock->now() - kRunStart;
    gpu_busy_time = gpu.busy_time();
    const LinkUsage usage = engine.network->usage(kDownLink);
    wire_bytes = usage.wire_delivered;
    wire_capacity = usage.capacity;
  }

  const Scenario& scenario_;
  const PolicySpec& policy_;
  std::size_t num_open_ = 0;
};

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0.0;
}

}  // namespace

Result<RunOutcome> run_replicate(const Scenario& s, const PolicySpec& policy,
                                 std::int64_t replicate, const std::string& tier) {
  Result<ReplicateDraws> draws = draw_replicate(s, replicate);
  if (!draws) return draws.error();
  RunOutcome outcome;
  outcome.trace_offset = draws->loads.front().trace_offset;
  DataSize wire_bytes, wire_capacity;
  const bool isolated = std::holds_alternative<IsolatedArrivals>(s.workload.arrivals);
  const std::size_t per_stage = isolated ? 1 : draws->loads.size();
  for (std::size_t i = 0; i < draws->loads.size(); i += per_stage) {
    Stage stage(s, policy);
    const std::span<const LoadDraw> staged = std::span(draws->loads).subspan(i, per_stage);
    if (Status done = stage.run(tier, draws->trace, staged, static_cast<std::int64_t>(i)); !done)
      return done.error();
    for (LoadRecord& load : stage.loads) {
      outcome.metrics.bytes_moved += load.bytes_moved;
      outcome.loads.push_back(std::move(load));
    }
    outcome.metrics.simulated_time += stage.simulated_time;
    outcome.metrics.gpu_busy_time += stage.gpu_busy_time;
    outcome.metrics.stored_per_context = std::max(outcome.metrics.stored_per_context, stage.stored);
    wire_bytes += stage.wire_bytes;
    wire_capacity += stage.wire_capacity;
  }
  outcome.metrics.gpu_busy_fraction =
      share(to_seconds(outcome.metrics.gpu_busy_time), to_seconds(outcome.metrics.simulated_time));
  outcome.metrics.link_utilisation =
      share(static_cast<double>(wire_bytes.bytes()), static_cast<double>(wire_capacity.bytes()));
  outcome.trace = std::move(draws->trace);
  return outcome;
}

}  // namespace sluice
