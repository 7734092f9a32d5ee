// Over random links and loads: `anytime` is late only where the lowest rung is late too, and never
// does more damage than it in a load that both finish in time.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "sim/ns3/ns3_tiers.h"
#include "tests/policies/layered_load.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

// 1 to 6 chunks; steps of 20 to 520 ms at 0 to 16 Mbit/s, one in five an outage; an SLO of 0.1 to
// 2.1 s; three loads in ten can be recomputed.
LoadBench random_load(std::uint64_t seed) {
  RandomStream random(seed, "anytime", 0);
  const auto num_chunks = 1 + random.below(6);
  LoadBench bench = layered_load(static_cast<std::size_t>(num_chunks));
  bench.transport.handshake = random.bernoulli(0.5);
  bench.transport.slow_start = random.bernoulli(0.5);
  bench.transport.count_headers = random.bernoulli(0.5);
  bench.plan.slo = 1ms * (100 + random.below(2000));
  const bool can_recompute = random.bernoulli(0.3);
  for (ChunkPlan& chunk : bench.plan.chunks) {
    if (!can_recompute) chunk.recompute_time.reset();
    if (can_recompute) chunk.recompute_time = 1ms * (20 + random.below(400));
  }
  std::vector<RateStep> steps;
  Duration start{};
  for (int i = 0; i < 8; ++i) {
    const auto rate = random.bernoulli(0.2) ? 0 : 1000 * (200 + random.below(15'800));
    steps.push_back({start, DataRate::bits_per_sec(static_cast<std::int64_t>(rate))});
    start += 1ms * (20 + random.below(500));
  }
  steps.push_back({start, DataRate::bits_per_sec(4'000'000)});
  bench.capacity(std::move(steps));
  return bench;
}

struct Seen {
  int in_time = 0, late = 0, rescued = 0;
};

void expect_no_worse_than_the_lowest_rung(const std::string& policy, const std::string& tier,
                                          std::uint64_t num_seeds, Seen& seen) {
  for (std::uint64_t seed = 0; seed < num_seeds && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("{} on {}, seed {}", policy, tier, seed));
    LoadBench bench = random_load(seed);
    const LoadRecord lowest = run_policy(bench, "fixed:level=layered@1", tier);
    const LoadRecord load = run_policy(bench, policy, tier);
    ASSERT_EQ(load.outcome, LoadOutcome::kCompleted) << load.failure;
    EXPECT_TRUE(!load.violated() || lowest.violated())
        << to_text(*load.ttft()) << " against " << to_text(*lowest.ttft()) << ", due "
        << to_text(load.slo);
    EXPECT_GE(load.quality, lowest.quality - 1e-12);
    seen.in_time += !load.violated();
    seen.late += load.violated();
    seen.rescued += !load.violated() && lowest.violated();
  }
}

TEST(AnytimeProperty, IsLateOnlyWhereTheLowestRungIsOnTheFluidTier) {
  Seen seen;
  for (const char* policy : {"anytime", "anytime:recompute=fill", "anytime:margin=0s,quantile=0"})
    expect_no_worse_than_the_lowest_rung(policy, "fluid", 1000, seen);
  EXPECT_GT(seen.in_time, 1000);
  EXPECT_GT(seen.late, 100);
  EXPECT_GT(seen.rescued, 20);
}

TEST(AnytimeProperty, IsLateOnlyWhereTheLowestRungIsOnTheBurstTier) {
  if (!ns3_available()) GTEST_SKIP() << "this build has no burst tier (ns-3 is missing)";
  Seen seen;
  expect_no_worse_than_the_lowest_rung("anytime", "burst", 200, seen);
  EXPECT_GT(seen.in_time, 50);
}

}  // namespace
}  // namespace sluice
