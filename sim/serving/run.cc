#include "sim/serving/run.h"

#include <algorithm>
#include <map>

#include "sim/scenario/ladder.h"
#include "sim/serving/cross_traffic.h"
#include "sim/serving/draws.h"
#include "sim/serving/plan.h"
#include "sim/serving/request_time.h"
#include "sim/serving/topology.h"
#include "sim/session/session.h"

namespace sluice {
namespace {

// One clock and network, and a GPU at each destination, with the loads that share them.
class Stage {
 public:
  Stage(const Scenario& scenario, const LevelList& levels, const PolicySpec& policy)
      : scenario_(scenario), levels_(levels), policy_(policy) {}

  Status run(const EngineMaker& make, const ReplicateDraws& all, StageKey stage,
             std::size_t num_loads) {
    TopologySpec topology = make_topology(scenario_, all, stage);
    // The networks of isolated loads differ only in what is drawn for them, which is sound.
    if (stage.first_load == 0) {
      if (Status checked = check_topology(topology, scenario_.transport); !checked)
        return checked.error();
    }
    const std::vector<NodeIndex>& destinations = scenario_.topology.destinations;
    Result<Engine> engine = make(std::move(topology), scenario_.transport, destinations.size());
    if (!engine) return engine.error();
    CrossTrafficSource cross_traffic(*engine->clock, *engine->network, scenario_, stage);
    Gpus gpus;
    for (std::size_t i = 0; i < destinations.size(); ++i)
      gpus.emplace(destinations[i], engine->gpus[i].get());
    std::vector<Actor> actors(num_loads);  // gone before clock, network and GPUs, come what may
    const std::span<const LoadDraw> draws =
        std::span(all.loads).subspan(static_cast<std::size_t>(stage.first_load), num_loads);
    if (Status ready = prepare(actors, *engine, gpus, draws, stage.first_load); !ready)
      return ready.error();
    cross_traffic.begin();
    engine->clock->run();
    for (Actor& actor : actors) actor.session->abandon();
    take_results(actors, *engine, gpus);
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

  using Gpus = std::map<NodeIndex, Gpu*>;

  Status prepare(std::vector<Actor>& actors, Engine& engine, Gpus& gpus,
                 std::span<const LoadDraw> draws, std::int64_t first_index) {
    num_open_ = draws.size();
    for (std::size_t i = 0; i < draws.size(); ++i) {
      Actor& actor = actors[i];
      actor.plan = plan_load(scenario_, levels_, policy_,
                             first_index + static_cast<std::int64_t>(i), draws[i]);
      Result<std::unique_ptr<Policy>> policy = make_policy(policy_, actor.plan.levels.all());
      if (!policy) return policy.error();
      actor.policy = std::move(*policy);
      RunnableClock& clock = *engine.clock;
      actor.session =
          std::make_unique<Session>(clock, *engine.network, *gpus.at(draws[i].destination),
                                    *actor.policy, actor.plan, [this, &clock, &actor] {
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

  void take_results(std::span<Actor> actors, const Engine& engine, const Gpus& gpus) {
    loads.reserve(actors.size());
    for (Actor& actor : actors) {
      loads.push_back(actor.session->take_record());
      stored = std::max(stored, stored_size(actor.plan));
    }
    simulated_time = engine.clock->now() - kRunStart;
    for (const auto& [node, gpu] : gpus) gpu_busy_time += gpu->busy_time();
    for (const LinkId link : main_links(scenario_)) {
      const LinkUsage usage = engine.network->usage(link);
      wire_bytes += usage.wire_delivered;
      wire_capacity += usage.capacity;
    }
  }

  const Scenario& scenario_;
  const LevelList& levels_;
  const PolicySpec& policy_;
  std::size_t num_open_ = 0;
};

double share(double part, double whole) {
  return whole > 0 ? part / whole : 0.0;
}

}  // namespace

Result<RunOutcome> run_replicate(const Scenario& s, const PolicySpec& policy,
                                 std::int64_t replicate, const std::string& tier) {
  return run_replicate(s, policy, replicate,
                       [&](TopologySpec topology, const TransportSpec& transport,
                           std::size_t num_gpus) -> Result<Engine> {
                         Result<Engine> engine =
                             make_engine(tier, std::move(topology), transport, num_gpus);
                         if (!engine || s.request_time == Duration::zero()) return engine;
                         engine->network = std::make_unique<RequestTimeNetwork>(
                             *engine->clock, std::move(engine->network), s.request_time);
                         return engine;
                       });
}

Result<RunOutcome> run_replicate(const Scenario& s, const PolicySpec& policy,
                                 std::int64_t replicate, const EngineMaker& make) {
  Result<ReplicateDraws> draws = draw_replicate(s, replicate);
  if (!draws) return draws.error();
  const LevelList levels = level_infos(s.ladder);
  RunOutcome outcome;
  outcome.loads.reserve(draws->loads.size());
  outcome.trace_offset = draws->loads.front().trace_offset;
  DataSize wire_bytes, wire_capacity;
  const bool isolated = std::holds_alternative<IsolatedArrivals>(s.workload.arrivals);
  const std::size_t per_stage = isolated ? 1 : draws->loads.size();
  for (std::size_t i = 0; i < draws->loads.size(); i += per_stage) {
    Stage stage(s, levels, policy);
    const StageKey key{replicate, static_cast<std::int64_t>(i)};
    if (Status done = stage.run(make, *draws, key, per_stage); !done) return done.error();
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
  const auto num_gpus = static_cast<double>(s.topology.destinations.size());
  outcome.metrics.gpu_busy_fraction = share(to_seconds(outcome.metrics.gpu_busy_time),
                                            to_seconds(outcome.metrics.simulated_time) * num_gpus);
  outcome.metrics.link_utilisation =
      share(static_cast<double>(wire_bytes.bytes()), static_cast<double>(wire_capacity.bytes()));
  outcome.trace = std::move(draws->cables.front().there);
  return outcome;
}

}  // namespace sluice
