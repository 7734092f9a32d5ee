// Random networks under random loads: whatever happens, everybody is told exactly once how it
// ended.
#include <gtest/gtest.h>

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

// A ring, and some cables across it.
TopologySpec random_topology(RandomStream& random) {
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
    add_cable(topology, link);
  };
  for (std::int32_t i = 0; i < kNodes; ++i) cable(i, (i + 1) % kNodes);
  for (int i = 0; i < 3; ++i) {
    const auto from = static_cast<std::int32_t>(random.below(kNodes));
    cable(from, (from + 2) % kNodes);
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

class RandomNetworks : public testing::TestWithParam<TierUnderTest> {};

void run_one(const TierUnderTest& tier, std::uint64_t seed) {
  RandomStream random(seed);
  const TopologySpec topology = random_topology(random);
  TransportSpec transport;
  transport.handshake = random.bernoulli(0.5);
  transport.slow_start = random.bernoulli(0.8);
  Simulation run(tier, topology, transport);
  std::vector<std::pair<TransferId, Transfer>> started;
  std::map<TransferId, bool> gone;  // cancelled, or its group closed, by us
  for (int i = 0; i < 60; ++i) {
    const Transfer t = random_transfer(random);
    const Instant at = kRunStart + std::chrono::microseconds{random.below(500'000)};
    const bool cancels = random.bernoulli(0.2), closes = random.bernoulli(0.1);
    const Duration after = std::chrono::microseconds{random.below(50'000)};
    run.clock->schedule(at, [&, t, cancels, closes, after] {
      const TransferId id = run.start(t);
      started.emplace_back(id, t);
      if (cancels) {
        run.clock->schedule_in(after, [&, id] {
          run.network->cancel(id);
          gone[id] = true;
        });
      }
      if (closes) {
        run.clock->schedule_in(after, [&, t] {
          run.network->close(t.group);
          for (const auto& [other, of] : started) gone[other] = gone[other] || of.group == t.group;
        });
      }
    });
  }
  run.clock->run(kRunStart + 1h);
  // What was sent before a cancel is still on its way when the last callback has run.
  run.clock->schedule_in(1min, [] {});
  run.clock->run();
  for (const auto& [id, t] : started) {
    const Diary::Page& page = run.diary.of(id);
    const bool should_fail = t.from == t.to;
    EXPECT_FALSE(page.completed_at && page.failed_at) << "seed " << seed;
    if (!gone[id]) {
      EXPECT_EQ(page.failed_at.has_value(), should_fail) << "seed " << seed;
      EXPECT_EQ(page.completed_at.has_value(), !should_fail) << "seed " << seed;
    }
    if (page.completed_at) {
      EXPECT_EQ(page.at_completion, t.size) << "seed " << seed;
    }
  }
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const LinkUsage usage = run.network->usage(LinkId{static_cast<std::int32_t>(i)});
    EXPECT_EQ(usage.wire_sent, usage.wire_delivered + usage.wire_dropped)
        << "seed " << seed << " link " << i;
    EXPECT_LE(usage.wire_delivered, usage.capacity) << "seed " << seed << " link " << i;
  }
}

TEST_P(RandomNetworks, EveryTransferEndsOnceAndEveryLinkIsAccountedFor) {
  if (!GetParam().is_there) GTEST_SKIP() << "this build has no ns-3: tier " << GetParam().name;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) run_one(GetParam(), seed);
}

INSTANTIATE_TEST_SUITE_P(All, RandomNetworks, testing::ValuesIn(all_tiers()),
                         [](const auto& suite_info) { return std::string(suite_info.param.name); });

}  // namespace
}  // namespace sluice
