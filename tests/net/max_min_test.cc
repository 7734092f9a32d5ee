// Max-min fair rates on networks drawn by hand.
#include "sim/net/fluid/max_min.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "tests/net/net_fixture.h"

namespace sluice {
namespace {

using net_test::mbps;

// Rates of flows over these links, in Mbit/s.
std::vector<double> rates(std::vector<DataRate> capacity,
                          const std::vector<std::vector<LinkId>>& paths,
                          std::vector<std::optional<DataRate>> limits = {},
                          std::vector<std::int64_t> weights = {}) {
  limits.resize(paths.size());
  weights.resize(paths.size(), 1);
  std::vector<MaxMinFlow> flows;
  for (std::size_t i = 0; i < paths.size(); ++i)
    flows.push_back({paths[i], weights[i], limits[i], DataRate{}});
  MaxMinSolver solver;
  solver.solve(capacity, flows);
  solver.solve(capacity, flows);  // the second use finds nothing of the first
  std::vector<double> out;
  for (const MaxMinFlow& flow : flows) out.push_back(flow.rate.megabits_per_sec());
  return out;
}

constexpr LinkId kA{0}, kB{1}, kC{2};
using Rates = std::vector<double>;

TEST(MaxMin, OneFlowTakesItsNarrowestLink) {
  EXPECT_EQ(rates({mbps(10), mbps(3), mbps(7)}, {{kA, kB, kC}}), Rates({3}));
}

// a long flow over three links of 12, and one short flow on each: everybody gets half.
TEST(MaxMin, TheParkingLotGivesTheLongFlowAsMuchAsTheShortOnes) {
  EXPECT_EQ(rates({mbps(12), mbps(12), mbps(12)}, {{kA, kB, kC}, {kA}, {kB}, {kC}}),
            Rates({6, 6, 6, 6}));
}

// Links of 12, 6 and 12: the middle one holds the long flow at 3; the outer short flows take what
// it leaves.
TEST(MaxMin, AFlowHeldElsewhereLeavesItsShareToTheOthers) {
  EXPECT_EQ(rates({mbps(12), mbps(6), mbps(12)}, {{kA, kB, kC}, {kA}, {kB}, {kC}}),
            Rates({3, 9, 3, 9}));
}

TEST(MaxMin, AFlowBelowItsShareLeavesTheRest) {
  EXPECT_EQ(rates({mbps(10)}, {{kA}, {kA}, {kA}}, {mbps(2), std::nullopt, std::nullopt}),
            Rates({2, 4, 4}));
}

TEST(MaxMin, ALimitAboveTheShareIsNoLimit) {
  EXPECT_EQ(rates({mbps(10)}, {{kA}, {kA}}, {mbps(9), std::nullopt}), Rates({5, 5}));
}

TEST(MaxMin, ALinkInOutageStopsOnlyWhoCrossesIt) {
  EXPECT_EQ(rates({mbps(10), mbps(0)}, {{kA}, {kA, kB}}), Rates({10, 0}));
}

// a has 12 for three flows; one of them is held at 2 by b, which it shares with two others. The
// other two of a share 10.
TEST(MaxMin, TwoBottlenecksEachHoldTheirOwn) {
  EXPECT_EQ(rates({mbps(12), mbps(6)}, {{kA}, {kA}, {kA, kB}, {kB}, {kB}}), Rates({5, 5, 2, 2, 2}));
}

// Three bottlenecks in a row: c (3 for 3), then b (12 - 1 for 2), then a (20 - 1 - 5.5 for 1).
TEST(MaxMin, BottlenecksAreFoundOneAfterTheOther) {
  EXPECT_EQ(rates({mbps(20), mbps(12), mbps(3)}, {{kA, kB, kC}, {kC}, {kC}, {kA, kB}, {kB}, {kA}}),
            Rates({1, 1, 1, 5.5, 5.5, 13.5}));
}

TEST(MaxMin, AFlowOfThreeConnectionsTakesThreeShares) {
  EXPECT_EQ(rates({mbps(12)}, {{kA}, {kA}, {kA}}, {}, {3, 1, 2}), Rates({6, 2, 4}));
}

// b gives 2 per connection, so the flow of two gets 4 there; the flow of one on a gets the rest.
TEST(MaxMin, WeightsHoldOnTheLinkThatIsTheBottleneck) {
  EXPECT_EQ(rates({mbps(12), mbps(6)}, {{kA}, {kA, kB}, {kB}}, {}, {1, 2, 1}), Rates({8, 4, 2}));
}

// Per connection the limit of 4 is 1, less than the share of 2; the other takes what is left.
TEST(MaxMin, ALimitIsOfTheWholeFlowAndComparedPerConnection) {
  EXPECT_EQ(rates({mbps(10)}, {{kA}, {kA}}, {mbps(4), std::nullopt}, {4, 1}), Rates({4, 6}));
}

TEST(MaxMin, NothingOfALinkIsLeftOverWhenTheShareIsNoWholeNumber) {
  const std::vector<LinkId> path{kA};
  std::vector<MaxMinFlow> flows(3, MaxMinFlow{path, 1, std::nullopt, DataRate{}});
  const std::vector<DataRate> capacity{DataRate::bits_per_sec(10)};
  MaxMinSolver{}.solve(capacity, flows);
  EXPECT_EQ(flows[0].rate, DataRate::bits_per_sec(3));
  EXPECT_EQ(flows[1].rate, DataRate::bits_per_sec(3));
  EXPECT_EQ(flows[2].rate, DataRate::bits_per_sec(4));
}

// On drawn networks: no link is overfull, and each flow has a bottleneck, that is, a full link on
// which nobody's rate per weight is larger by more than the rounding, or its own limit.
TEST(MaxMin, EveryFlowHasItsBottleneckOnDrawnNetworks) {
  RandomStream random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<DataRate> capacity(12);
    for (DataRate& rate : capacity)
      rate = DataRate::bits_per_sec(static_cast<std::int64_t>(random.below(1'000'000)));
    std::vector<std::vector<LinkId>> paths(1 + random.below(40));
    std::vector<MaxMinFlow> flows;
    for (std::vector<LinkId>& path : paths) {
      for (std::int32_t link = 0; link < 12; ++link) {
        if (random.bernoulli(0.25)) path.push_back(LinkId{link});
      }
      if (path.empty()) path.push_back(LinkId{0});
      flows.push_back({path, 1 + static_cast<std::int64_t>(random.below(8)), std::nullopt, {}});
      if (random.bernoulli(0.2))
        flows.back().limit =
            DataRate::bits_per_sec(static_cast<std::int64_t>(random.below(200'000)));
    }
    MaxMinSolver{}.solve(capacity, flows);
    std::vector<std::int64_t> used(capacity.size());
    std::vector<double> largest(capacity.size());  // rate per weight
    const auto per_weight = [](const MaxMinFlow& flow) {
      return static_cast<double>(flow.rate.bits_per_sec()) / static_cast<double>(flow.weight);
    };
    for (const MaxMinFlow& flow : flows) {
      for (const LinkId id : flow.links) {
        const auto link = static_cast<std::size_t>(id.value);
        used[link] += flow.rate.bits_per_sec();
        largest[link] = std::max(largest[link], per_weight(flow));
      }
    }
    for (std::size_t i = 0; i < capacity.size(); ++i)
      EXPECT_LE(used[i], capacity[i].bits_per_sec());
    for (const MaxMinFlow& flow : flows) {
      const bool has_bottleneck = std::any_of(flow.links.begin(), flow.links.end(), [&](LinkId id) {
        const auto link = static_cast<std::size_t>(id.value);
        return used[link] == capacity[link].bits_per_sec() && per_weight(flow) >= largest[link] - 2;
      });
      EXPECT_TRUE(flow.rate == flow.limit || has_bottleneck) << "round " << round;
    }
  }
}

}  // namespace
}  // namespace sluice
