// A policy that decides at random, mostly within the contract and sometimes against it, for
// thousands of loads that share a link and a GPU. Whatever it says, a load ends, its record adds up
// and a repeat gives the same record.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "sim/ns3/ns3_tiers.h"
#include "tests/session/load_bench.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr Duration kHorizon = 10min;

class RandomPolicy final : public Policy {
 public:
  explicit RandomPolicy(std::uint64_t seed) : random_(seed, "policy", 0) {}

  Decision decide(const Observation& o) override {
    Decision decision{{}, "at random"};
    if (random_.bernoulli(0.001)) decision.actions.push_back(nonsense(o));
    const auto first = random_.below(o.chunks.size());
    for (std::size_t i = 0; i < o.chunks.size(); ++i) {
      act(o.chunks[(first + i) % o.chunks.size()], decision.actions);
      if (random_.bernoulli(0.3)) break;
    }
    const bool idle = o.transfers_in_flight == 0 && decision.actions.empty();
    if (idle && random_.bernoulli(0.9)) start_something(o, decision.actions);
    if (all_have_come(o) && decision.actions.empty() && random_.bernoulli(0.5))
      decision.actions.push_back(Start{});
    if (decision.actions.empty() && random_.bernoulli(0.5))
      decision.actions.push_back(Wait{o.now + 1ms * (1 + any(50))});
    return decision;
  }

 private:
  static bool all_have_come(const Observation& o) {
    return std::all_of(o.chunks.begin(), o.chunks.end(), [](const ChunkView& c) {
      return c.phase == ChunkPhase::kArrived || c.phase == ChunkPhase::kResident;
    });
  }

  void act(const ChunkView& c, std::vector<Action>& actions) {
    const bool may_recompute =
        c.recompute_time && !c.recomputing && c.phase != ChunkPhase::kResident;
    const bool hedge_is_free = c.text_size == DataSize::zero();
    if (c.held && random_.bernoulli(0.3)) {
      actions.push_back(Decode{c.index});
    } else if (c.fetching && random_.bernoulli(0.05)) {
      actions.push_back(Cancel{c.index});
    } else if (c.fetching) {
      if (may_recompute && hedge_is_free && random_.bernoulli(0.3))
        actions.push_back(Recompute{c.index});
    } else if (may_recompute && random_.bernoulli(0.3)) {
      actions.push_back(Recompute{c.index});
    } else if (c.phase == ChunkPhase::kAbsent && random_.bernoulli(0.6)) {
      actions.push_back(Fetch{c.index, any(c.levels.size()), 1 + any(3), any_time()});
    } else if (c.level && *c.level > 0 && !text_travels(c) && random_.bernoulli(0.3)) {
      const std::int32_t finer = any(static_cast<std::size_t>(*c.level));  // each refines the next
      actions.push_back(Fetch{c.index, finer, 1, any_time()});
    }
  }

  void start_something(const Observation& o, std::vector<Action>& actions) {
    for (const ChunkView& c : o.chunks) {
      if (c.phase == ChunkPhase::kAbsent)
        actions.push_back(Fetch{c.index, any(c.levels.size()), 1});
    }
  }

  Action nonsense(const Observation& o) {
    const std::int32_t chunk = any(o.chunks.size() + 2) - 1, level = any(5) - 1;
    const Action all[] = {Fetch{chunk, level, any(3)},
                          Recompute{chunk},
                          Cancel{chunk},
                          Start{},
                          Decode{chunk},
                          Wait{o.now - 1ms},
                          Fetch{chunk, 0, std::numeric_limits<std::int32_t>::max()}};
    return all[random_.below(std::size(all))];
  }

  // A recompute that may still wait for its text: a fetch would meet that transfer.
  static bool text_travels(const ChunkView& c) {
    return c.recomputing && c.text_size > DataSize::zero();
  }

  DecodeWhen any_time() {
    return random_.bernoulli(0.5) ? DecodeWhen::kWhenAsked : DecodeWhen::kOnArrival;
  }

  std::int32_t any(std::size_t bound) {
    return static_cast<std::int32_t>(random_.below(static_cast<std::uint64_t>(bound)));
  }

  RandomStream random_;
};

// Some loads on one link and one GPU, drawn from a seed.
struct World {
  std::string tier;
  TopologySpec topology;
  TransportSpec transport;
  std::vector<LoadPlan> plans;
  std::vector<Instant> arrivals;
  std::vector<Instant> give_ups;
};

LoadPlan random_plan(std::int64_t index, RandomStream& random) {
  LoadPlan plan;
  plan.index = index;
  plan.levels = {{"layered@3", "layered", "3", 0.0, 1},
                 {"layered@2", "layered", "2", 0.1, 2},
                 {"layered@1", "layered", "1", 0.3, {}}};
  plan.slo = 1s;
  plan.first_token_time = 25ms;
  plan.source = NodeId{0};
  plan.destination = NodeId{1};
  const auto num_chunks = 1 + random.below(5);
  const bool with_text = random.bernoulli(0.5);
  const auto num_resident = random.bernoulli(0.3) ? random.below(num_chunks + 1) : 0;
  for (std::uint64_t i = 0; i < num_chunks; ++i) {
    ChunkPlan chunk;
    chunk.tokens = 100;
    // Round numbers, so that many things happen at the same instant.
    const auto unit = static_cast<std::int64_t>(10'000 * random.below(10));
    for (const std::int64_t layers : {3, 2, 1})
      chunk.levels.push_back({DataSize::bytes(unit * layers), 10ms * random.below(3)});
    if (random.bernoulli(0.7)) chunk.recompute_time = 10ms * random.below(20);
    chunk.decoded_size = DataSize::bytes(500'000);
    chunk.text_size = DataSize::bytes(with_text ? 400 : 0);
    chunk.resident = i < num_resident;
    plan.chunks.push_back(std::move(chunk));
  }
  return plan;
}

World random_world(const std::string& tier, std::uint64_t seed) {
  RandomStream random(seed, "world", 0);
  World world;
  world.tier = tier;
  world.transport.handshake = random.bernoulli(0.5);
  world.transport.slow_start = random.bernoulli(0.5);
  world.transport.count_headers = random.bernoulli(0.5);
  LinkTrace trace{.name = "steps", .length = 400ms, .steps = {}};
  for (int step = 0; step < 4; ++step) {
    trace.steps.push_back({100ms * step, DataRate::bits_per_sec(static_cast<std::int64_t>(
                                             8'000'000 * random.below(4)))});  // zero too
  }
  world.topology.nodes = {"store", "gpu"};
  add_cable(world.topology, {.name = "link",
                             .from = NodeId{0},
                             .to = NodeId{1},
                             .capacity = trace,
                             .trace_offset = {},
                             .delay = 5ms * random.below(3)});
  const auto num_loads = 1 + random.below(4);
  for (std::uint64_t i = 0; i < num_loads; ++i) {
    world.plans.push_back(random_plan(static_cast<std::int64_t>(i), random));
    world.arrivals.push_back(kRunStart + 10ms * random.below(30));
    world.give_ups.push_back(world.arrivals.back() + 100ms * (1 + random.below(40)));
  }
  return world;
}

struct Played {
  std::vector<LoadRecord> loads;
  std::vector<int> ends;  // how often each load said that it ended
};

Played play(const World& world, std::uint64_t seed) {
  Played played;
  Result<Engine> engine = make_engine(world.tier, world.topology, world.transport);
  if (!engine) {
    ADD_FAILURE() << engine.error().to_line();
    return played;
  }
  SimGpu gpu(*engine->clock);
  std::vector<std::unique_ptr<RandomPolicy>> policies;
  std::vector<std::unique_ptr<Session>> sessions;
  played.ends.assign(world.plans.size(), 0);
  for (std::size_t i = 0; i < world.plans.size(); ++i) {
    policies.push_back(std::make_unique<RandomPolicy>(seed * 16 + i));
    sessions.push_back(std::make_unique<Session>(*engine->clock, *engine->network, gpu,
                                                 *policies[i], world.plans[i],
                                                 [&played, i] { ++played.ends[i]; }));
    Session& session = *sessions[i];
    engine->clock->schedule(world.arrivals[i], [&session] { session.begin(); });
    engine->clock->schedule(world.give_ups[i], [&session] { session.abandon(); });
  }
  engine->clock->run(kRunStart + kHorizon);
  for (const auto& session : sessions) {
    EXPECT_TRUE(session->ended()) << "a load neither finished nor was given up";
    played.loads.push_back(session->record());
  }
  return played;
}

void expect_in_order(std::optional<Instant> earlier, std::optional<Instant> later) {
  if (!earlier || !later) return;
  EXPECT_LE(*earlier, *later);
}

void expect_adds_up(const LoadRecord& load, const LoadPlan& plan) {
  DataSize bytes, decoded, everything;
  std::int64_t recomputed = 0;
  for (std::size_t i = 0; i < load.chunks.size(); ++i) {
    const ChunkRecord& chunk = load.chunks[i];
    EXPECT_GE(chunk.bytes.bytes(), 0);
    bytes += chunk.bytes;
    everything += plan.chunks[i].decoded_size + plan.chunks[i].levels.front().size;
    if (chunk.action != ChunkAction::kNone) decoded += plan.chunks[i].decoded_size;
    if (chunk.action == ChunkAction::kRecomputed) {
      recomputed += chunk.tokens;
      EXPECT_EQ(chunk.level, "");
      EXPECT_EQ(chunk.damage, 0.0);
    }
    if (chunk.action == ChunkAction::kReused) {
      EXPECT_TRUE(plan.chunks[i].resident);
      EXPECT_EQ(chunk.bytes, DataSize::zero());
      EXPECT_EQ(chunk.resident_at, load.arrived_at);
    }
    expect_in_order(chunk.requested_at, chunk.first_byte_at);
    expect_in_order(chunk.first_byte_at, chunk.arrived_at);
    if (load.outcome == LoadOutcome::kCompleted) {
      EXPECT_NE(chunk.action, ChunkAction::kNone);
      expect_in_order(chunk.compute_began_at, chunk.resident_at);
      expect_in_order(chunk.resident_at, load.first_token_at);
    }
  }
  EXPECT_EQ(load.bytes_moved, bytes);
  EXPECT_EQ(load.recomputed_tokens, recomputed);
  EXPECT_GE(load.peak_memory, decoded);
  EXPECT_LE(load.peak_memory, everything);
  EXPECT_GE(load.quality, 0.0);
  EXPECT_LE(load.quality, 1.0);
  expect_in_order(load.arrived_at, load.kv_ready_at);
  expect_in_order(load.kv_ready_at, load.first_token_at);
  EXPECT_EQ(load.first_token_at.has_value(), load.outcome == LoadOutcome::kCompleted);
  EXPECT_EQ(load.failure.empty(), load.outcome != LoadOutcome::kFailed) << load.failure;
}

std::string words_of(const Played& played) {
  std::string words;
  for (const LoadRecord& load : played.loads) {
    words += fmt::format("{} {} {} {} {} {};", static_cast<int>(load.outcome), load.failure,
                         load.ttft().value_or(Duration::zero()).count(), load.bytes_moved.bytes(),
                         load.peak_memory.bytes(), load.quality);
    for (const ChunkRecord& c : load.chunks)
      words += fmt::format("{} {} {},", static_cast<int>(c.action), c.level, c.bytes.bytes());
  }
  return words;
}

struct Count {
  int completed = 0, failed = 0, unfinished = 0;
};

void expect_sound(const World& world, std::uint64_t seed, Count& count, Played& played) {
  played = play(world, seed);
  ASSERT_EQ(played.loads.size(), world.plans.size());
  for (std::size_t i = 0; i < played.loads.size(); ++i) {
    SCOPED_TRACE(fmt::format("tier {} seed {} load {}", world.tier, seed, i));
    EXPECT_EQ(played.ends[i], 1);
    expect_adds_up(played.loads[i], world.plans[i]);
    count.completed += played.loads[i].outcome == LoadOutcome::kCompleted;
    count.failed += played.loads[i].outcome == LoadOutcome::kFailed;
    count.unfinished += played.loads[i].outcome == LoadOutcome::kUnfinished;
  }
}

// The instants at which something happened to a load: giving up exactly then is the hard case.
std::vector<Instant> moments_of(const LoadRecord& load) {
  std::vector<Instant> moments;
  for (const ChunkRecord& c : load.chunks) {
    for (const auto& at :
         {c.requested_at, c.first_byte_at, c.arrived_at, c.compute_began_at, c.resident_at})
      if (at) moments.push_back(*at);
  }
  if (load.kv_ready_at) moments.push_back(*load.kv_ready_at);
  if (load.first_token_at) moments.push_back(*load.first_token_at);
  return moments;
}

void try_seeds(const std::string& tier, std::uint64_t num_seeds, Count& count) {
  for (std::uint64_t seed = 0; seed < num_seeds && !testing::Test::HasFailure(); ++seed) {
    World world = random_world(tier, seed);
    Played played, again;
    expect_sound(world, seed, count, played);
    EXPECT_EQ(words_of(play(world, seed)), words_of(played)) << "seed " << seed;
    const std::vector<Instant> moments = moments_of(played.loads.front());
    if (moments.empty()) continue;
    world.give_ups.front() = moments[seed % moments.size()];
    expect_sound(world, seed, count, again);
  }
}

TEST(ARandomPolicy, NeverBreaksALoadOnTheFluidTier) {
  Count count;
  try_seeds("fluid", 2000, count);
  EXPECT_GT(count.completed, 1000);
  EXPECT_GT(count.failed, 20);
  EXPECT_GT(count.unfinished, 500);
}

TEST(ARandomPolicy, NeverBreaksALoadOnTheBurstTier) {
  if (!ns3_available()) GTEST_SKIP() << "this build has no burst tier (ns-3 is missing)";
  Count count;
  try_seeds("burst", 100, count);
  EXPECT_GT(count.completed, 50);
  EXPECT_GT(count.unfinished, 25);
}

}  // namespace
}  // namespace sluice
