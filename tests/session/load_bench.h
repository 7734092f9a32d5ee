// One load on one link with round numbers: 8 Mbit/s is one byte per microsecond, the round trip is
// 20 ms.
#pragma once

#include <functional>
#include <utility>

#include "sim/serving/engine.h"
#include "sim/session/session.h"
#include "sim/session/sim_gpu.h"

namespace sluice {

// A policy written as a function of the observation.
class ScriptedPolicy final : public Policy {
 public:
  using Rule = std::function<Decision(const Observation&)>;
  explicit ScriptedPolicy(Rule rule) : rule_(std::move(rule)) {}
  Decision decide(const Observation& observation) override { return rule_(observation); }

 private:
  Rule rule_;
};

class LoadBench {
 public:
  LoadBench() {
    transport.handshake = false;
    transport.slow_start = false;
    transport.count_headers = false;
    plan.levels = {{.id = "fine@1", .codec = "fine", .level = "1", .damage = 0.0, .refines = {}}};
    plan.slo = std::chrono::seconds{2};
    plan.first_token_time = std::chrono::milliseconds{25};
    plan.source = NodeId{0};
    plan.destination = NodeId{1};
  }

  // A chunk of `bytes` at every level in turn, 5 ms to decode, 300 ms to recompute, 2 MB decoded.
  LoadBench& chunk(std::vector<std::int64_t> bytes) {
    ChunkPlan chunk{.tokens = 1500,
                    .levels = {},
                    .recompute_time = std::chrono::milliseconds{300},
                    .decoded_size = DataSize::bytes(2'000'000),
                    .text_size = {}};
    for (const std::int64_t b : bytes) {
      chunk.levels.push_back(
          {.size = DataSize::bytes(b), .decode_time = std::chrono::milliseconds{5}});
    }
    plan.chunks.push_back(std::move(chunk));
    return *this;
  }

  LoadBench& rate(DataRate rate) { return capacity({{Duration::zero(), rate}}); }

  // From these instants on; the last holds.
  LoadBench& capacity(std::vector<RateStep> steps) {
    steps_ = std::move(steps);
    return *this;
  }

  // Runs the load to its end (at most one minute) and returns its record.
  LoadRecord run(const std::string& tier, Policy& policy) {
    TopologySpec topology{.nodes = {"store", "gpu"}, .links = {}};
    LinkTrace trace{.name = "steps",
                    .end = TraceEnd::kHold,
                    .length = steps_.back().start + std::chrono::seconds{1},
                    .steps = steps_};
    add_cable(topology, {.name = "link",
                         .from = NodeId{0},
                         .to = NodeId{1},
                         .capacity = trace,
                         .trace_offset = {},
                         .delay = std::chrono::milliseconds{10}});
    Result<Engine> engine = make_engine(tier, topology, transport);
    if (!engine) {
      LoadRecord failed;
      failed.failure = engine.error().to_line();
      return failed;
    }
    SimGpu gpu(*engine->clock);
    Session session(*engine->clock, *engine->network, gpu, policy, plan,
                    [&] { engine->clock->stop(); });
    engine->clock->schedule(kRunStart, [&] { session.begin(); });
    engine->clock->run(kRunStart + std::chrono::minutes{1});
    session.abandon();
    return session.record();
  }

  LoadRecord run(const std::string& tier, ScriptedPolicy::Rule rule) {
    ScriptedPolicy policy(std::move(rule));
    return run(tier, policy);
  }

  LoadPlan plan;
  TransportSpec transport;

 private:
  std::vector<RateStep> steps_{{Duration::zero(), DataRate::bits_per_sec(8'000'000)}};
};

// The next chunk that is absent, at level 0, one transfer at a time.
inline Decision fetch_in_order(const Observation& o) {
  if (o.transfers_in_flight > 0) return {{Wait{}}, "in flight"};
  for (const ChunkView& c : o.chunks) {
    if (c.phase == ChunkPhase::kAbsent) return {{Fetch{.chunk = c.index, .level = 0}}, "next"};
  }
  return {{Wait{}}, "all here"};
}

}  // namespace sluice
