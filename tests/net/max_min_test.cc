// Max-min fair rates on networks drawn by hand.
#include "sim/net/fluid/max_min.h"

#include <gtest/gtest.h>

#include "tests/net/net_fixture.h"

namespace sluice {
namespace {

using net_test::mbps;

// Rates of flows over these links, in Mbit/s.
std::vector<double> rates(std::vector<DataRate> capacity,
                          const std::vector<std::vector<LinkId>>& paths,
                          std::vector<std::optional<DataRate>> limits = {}) {
  limits.resize(paths.size());
  std::vector<MaxMinFlow> flows;
  for (std::size_t i = 0; i < paths.size(); ++i) flows.push_back({paths[i], limits[i], DataRate{}});
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

TEST(MaxMin, NothingOfALinkIsLeftOverWhenTheShareIsNoWholeNumber) {
  const std::vector<LinkId> path{kA};
  std::vector<MaxMinFlow> flows(3, MaxMinFlow{path, std::nullopt, DataRate{}});
  const std::vector<DataRate> capacity{DataRate::bits_per_sec(10)};
  MaxMinSolver{}.solve(capacity, flows);
  EXPECT_EQ(flows[0].rate, DataRate::bits_per_sec(3));
  EXPECT_EQ(flows[1].rate, DataRate::bits_per_sec(3));
  EXPECT_EQ(flows[2].rate, DataRate::bits_per_sec(4));
}

}  // namespace
}  // namespace sluice
