// The tiers with packets against the fluid tier on the same loads: the time until a context's last
// byte.
#include <gtest/gtest.h>

#include "tests/net/tiers_fixture.h"

namespace sluice {
namespace {

using namespace net_test;

constexpr std::int64_t kContext =
    176'000'000;  // 9.4 K tokens of Mistral-7B at CacheGen's middle level

struct Case {
  const char* name;
  LinkTrace capacity;
  Duration delay;                // one way
  double difference_max = 0.02;  // of the fluid tier's time
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

std::vector<Case> cases() {
  return {{"constant_1_gbps_rtt_20_ms", constant(mbps(1000)), 10ms},
          {"constant_3_gbps_rtt_200_us", constant(mbps(3000)), 100us},
          {"constant_100_mbps_rtt_20_ms", constant(mbps(100)), 10ms},
          {"step_down_rtt_20_ms", steps({{0s, mbps(3000)}, {200ms, mbps(300)}}), 10ms},
          {"step_up_rtt_20_ms", steps({{0s, mbps(300)}, {1s, mbps(3000)}}), 10ms},
          // The queue overflows before the end, and the last packets with it: that costs a tail
          // probe. The fluid tier has no queue, and this is what it misses.
          {"outage_rtt_20_ms", steps({{0s, mbps(1000)}, {500ms, mbps(0)}, {1500ms, mbps(1000)}}),
           10ms, 0.03}};
}

class Agreement : public testing::TestWithParam<Case> {};

Duration load_time(const TierUnderTest& tier, const Case& c, std::int64_t bytes) {
  Simulation run(tier, one_cable(c.capacity, c.delay), TransportSpec{});
  const Diary::Page page = run.run_one(transfer(bytes));
  return page.completed_at ? *page.completed_at - kRunStart : Duration::max();
}

void expect_agreement(const Case& c, const TierUnderTest& with) {
  const double fluid_s = to_seconds(load_time(tier_named("fluid"), c, kContext));
  const double other_s = to_seconds(load_time(with, c, kContext));
  testing::Test::RecordProperty("fluid_s", std::to_string(fluid_s));
  testing::Test::RecordProperty(std::string(with.name) + "_s", std::to_string(other_s));
  EXPECT_NEAR(other_s, fluid_s, c.difference_max * fluid_s);
}

TEST_P(Agreement, BurstTakesAboutAsLongAsFluid) {
  if (!ns3_available()) GTEST_SKIP() << "this build has no ns-3";
  expect_agreement(GetParam(), tier_named("burst"));
}

TEST_P(Agreement, PacketTakesAboutAsLongAsFluid) {
  if (!ns3_available()) GTEST_SKIP() << "this build has no ns-3";
  expect_agreement(GetParam(), tier_named("packet"));
}

INSTANTIATE_TEST_SUITE_P(All, Agreement, testing::ValuesIn(cases()),
                         [](const auto& suite_info) { return std::string(suite_info.param.name); });

}  // namespace
}  // namespace sluice
