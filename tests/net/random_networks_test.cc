// Random networks under random loads: whatever happens, everybody is told exactly once how it
// ended.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "tests/net/tiers_fixture.h"

namespace sluice {
namespace {

using namespace net_test;

constexpr std::int32_t kNodes = 6;

LinkTrace random_capacity(RandomStream& random) {
  LinkTrace trace = constant(mbps(1));
  trace.steps.clear();
  Duration start{};
  for (std::uint64_t i = 0; i <= random.below(5); ++i) {
    const bool is_outage = i > 0 && random.bernoulli(0.2);
    trace.steps.push_back(
        {start, is_outage ? mbps(0) : mbps(1 + static_cast<std::int64_t>(random.below(3000)))});
    start += std::chrono::microseconds{1 + random.below(100'000)};
  }
  trace.length = start;
  trace.end = TraceEnd::kLoop;  // so that no outage is for ever
  return trace;
}

LossSpec random_loss(RandomStream& random) {
  if (random.bernoulli(0.5)) return NoLoss{};
  if (random.bernoulli(0.5)) return RandomLoss{random.uniform(0, 0.05)};
  return BurstLoss{std::chrono::microseconds{1000 + random.below(500'000)},
                   std::chrono::microseconds{100 + random.below(20'000)}, 0.001, 0.5};
}

QueueSpec random_queue(RandomStream& random) {
  QueueSpec queue;
  queue.limit = DataSize::bytes(20'000 + static_cast<std::int64_t>(random.below(2'000'000)));
  if (random.bernoulli(0.2)) queue.discipline = CoDel{};
  if (random.bernoulli(0.2))
    queue.discipline = Red{DataSize::bytes(5'000), DataSize::bytes(15'000), 0.1, 0.01};
  return queue;
}

// What makes packets late, lost or disordered, were they not kept in order.
void add_effects(RandomStream& random, LinkSpec& link) {
  link.loss = random_loss(random);
  link.queue = random_queue(random);
  if (random.bernoulli(0.3)) link.jitter = std::chrono::microseconds{random.below(5'000)};
  if (random.bernoulli(0.2))
    link.delay_trace = DelayTrace{{{0s, 1ms}, {300ms, 30ms}, {400ms, 2ms}}, 500ms, TraceEnd::kLoop};
}

// A ring, and some cables across it.
TopologySpec random_topology(RandomStream& random, bool with_effects) {
  TopologySpec topology;
  for (std::int32_t i = 0; i < kNodes; ++i) topology.nodes.push_back("n" + std::to_string(i));
  const auto cable = [&](std::int32_t from, std::int32_t to) {
    LinkSpec link;
    link.name = std::to_string(from) + "-" + std::to_string(to);
    link.from = NodeId{from};
    link.to = NodeId{to};
    link.capacity = random_capacity(random);
    link.delay = std::chrono::microseconds{random.below(20'000)};
    link.mtu = DataSize::bytes(random.bernoulli(0.5) ? 1500 : 9000);
    link.queue.limit = DataSize::bytes(20'000 + static_cast<std::int64_t>(random.below(2'000'000)));
    if (with_effects) add_effects(random, link);
    add_cable(topology, link);
  };
  for (std::int32_t i = 0; i < kNodes; ++i) cable(i, (i + 1) % kNodes);
  for (int i = 0; i < 3; ++i) {
    const auto from = static_cast<std::int32_t>(random.below(kNodes));
    cable(from, (from + 2) % kNodes);
  }
  topology.seed = random.next_u64();
  for (std::int32_t i = 0; with_effects && i < 2; ++i) {
    SteadyFlow flow;
    flow.name = std::to_string(i);
    flow.from = NodeId{i};
    flow.to = NodeId{i + 3};  // by one of several ways
    flow.rate = constant(DataRate::bits_per_sec(200'000));
    flow.packet = DataSize::bytes(100 + static_cast<std::int64_t>(random.below(1400)));
    topology.steady_flows.push_back(flow);
  }
  return topology;
}

Transfer random_transfer(RandomStream& random) {
  Transfer t;
  t.from = NodeId{static_cast<std::int32_t>(random.below(kNodes))};
  t.to = NodeId{static_cast<std::int32_t>(random.below(kNodes))};  // sometimes the same
  t.size = DataSize::bytes(
      random.bernoulli(0.1) ? 0 : static_cast<std::int64_t>(random.below(2'000'000)));
  t.group = ConnectionGroup{random.below(12)};
  t.connections = 1 + static_cast<std::int32_t>(random.below(3));
  t.progress_every = DataSize::bytes(static_cast<std::int64_t>(random.below(2) * 100'000));
  return t;
}

// Sixty random transfers, some of them cancelled or closed on the way.
class Crowd {
 public:
  Crowd(Simulation& run, RandomStream& random) : run_(run) {
    for (int i = 0; i < 60; ++i) add(random);
  }
  [[nodiscard]] bool is_over() {
    if (started_.size() < 60) return false;
    return std::all_of(started_.begin(), started_.end(), [&](const auto& one) {
      const Diary::Page& page = run_.diary.of(one.first);
      return gone_[one.first] || page.completed_at || page.failed_at;
    });
  }
  void check(std::uint64_t seed) {
    for (const auto& [id, t] : started_) {
      const Diary::Page& page = run_.diary.of(id);
      const bool should_fail = t.from == t.to;
      EXPECT_FALSE(page.completed_at && page.failed_at) << "seed " << seed;
      if (!gone_[id]) {
        EXPECT_EQ(page.failed_at.has_value(), should_fail) << "seed " << seed;
        EXPECT_EQ(page.completed_at.has_value(), !should_fail) << "seed " << seed;
      }
      if (page.completed_at) {
        EXPECT_EQ(page.at_completion, t.size) << "seed " << seed;
      }
    }
  }

 private:
  void add(RandomStream& random) {
    const Transfer t = random_transfer(random);
    const Instant at = kRunStart + std::chrono::microseconds{random.below(500'000)};
    const bool cancels = random.bernoulli(0.2), closes = random.bernoulli(0.1);
    const Duration after = std::chrono::microseconds{random.below(50'000)};
    run_.clock->schedule(at, [this, t, cancels, closes, after] {
      const TransferId id = run_.start(t);
      started_.emplace_back(id, t);
      if (cancels) run_.clock->schedule_in(after, [this, id] { cancel(id); });
      if (closes) run_.clock->schedule_in(after, [this, t] { close(t.group); });
    });
  }
  void cancel(TransferId id) {
    run_.network->cancel(id);
    gone_[id] = true;
  }
  void close(ConnectionGroup group) {
    run_.network->close(group);
    for (const auto& [other, of] : started_) gone_[other] = gone_[other] || of.group == group;
  }

  Simulation& run_;
  std::vector<std::pair<TransferId, Transfer>> started_;
  std::map<TransferId, bool> gone_;  // cancelled, or its group closed, by us
};

TransportSpec random_transport(RandomStream& random) {
  TransportSpec transport;
  transport.handshake = random.bernoulli(0.5);
  transport.slow_start = random.bernoulli(0.8);
  return transport;
}

void run_plain(const TierUnderTest& tier, std::uint64_t seed) {
  RandomStream random(seed);
  const TopologySpec topology = random_topology(random, false);
  Simulation run(tier, topology, random_transport(random));
  Crowd crowd(run, random);
  run.clock->run(kRunStart + 1h);
  // What was sent before a cancel is still on its way when the last callback has run.
  run.clock->schedule_in(1min, [] {});
  run.clock->run();
  crowd.check(seed);
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const LinkUsage usage = run.network->usage(LinkId{static_cast<std::int32_t>(i)});
    EXPECT_EQ(usage.wire_sent, usage.wire_delivered + usage.wire_dropped)
        << "seed " << seed << " link " << i;
    EXPECT_LE(usage.wire_delivered, usage.capacity) << "seed " << seed << " link " << i;
  }
}

// At instants that have nothing to do with packets, on every link.
void run_with_effects(const TierUnderTest& tier, std::uint64_t seed) {
  RandomStream random(seed);
  const TopologySpec topology = random_topology(random, true);
  const TransportSpec transport = random_transport(random);
  ASSERT_TRUE(check_topology(topology, transport)) << "seed " << seed;
  Simulation run(tier, topology, transport);
  Crowd crowd(run, random);
  Instant now;
  while (!crowd.is_over() && now < kRunStart + 1h) {
    now += std::chrono::nanoseconds{
        1 + random.below(now < kRunStart + 1s ? 10'000'000 : 2'000'000'000)};
    run.clock->run(now);
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
      const LinkUsage usage = run.network->usage(LinkId{static_cast<std::int32_t>(i)});
      ASSERT_EQ(usage.wire_sent, usage.wire_delivered + usage.wire_dropped + usage.wire_in_flight)
          << "seed " << seed << " link " << i << " at " << to_ns(now) << " ns";
    }
  }
  crowd.check(seed);
}

class RandomNetworks : public testing::TestWithParam<TierUnderTest> {
 protected:
  void SetUp() override {
    if (!GetParam().is_there) GTEST_SKIP() << "this build has no ns-3: tier " << GetParam().name;
  }
  static std::uint64_t num_networks(std::uint64_t of_a_fast_tier) {
    return GetParam().is_fast ? of_a_fast_tier : of_a_fast_tier / 10;
  }
};

TEST_P(RandomNetworks, EveryTransferEndsOnceAndEveryLinkIsAccountedFor) {
  for (std::uint64_t seed = 1; seed <= num_networks(60); ++seed) run_plain(GetParam(), seed);
}

TEST_P(RandomNetworks, WhatWasSentIsDeliveredDroppedOrInFlightAtAnyInstant) {
  for (std::uint64_t seed = 1; seed <= num_networks(30); ++seed) run_with_effects(GetParam(), seed);
}

INSTANTIATE_TEST_SUITE_P(All, RandomNetworks, testing::ValuesIn(all_tiers()),
                         [](const auto& suite_info) { return std::string(suite_info.param.name); });

}  // namespace
}  // namespace sluice
