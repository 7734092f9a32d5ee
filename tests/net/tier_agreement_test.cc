// The burst tier against the fluid tier on the same loads: the time until a context's last byte.
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
          // The queue overflows just before the end, and the last segment with it: that costs the
          // burst tier a probe timeout of about 0.2 s. The fluid tier has no loss, and this is what
          // it misses.
          {"outage_rtt_20_ms", steps({{0s, mbps(1000)}, {500ms, mbps(0)}, {1500ms, mbps(1000)}}),
           10ms, 0.10}};
}

class Agreement : public testing::TestWithParam<Case> {};

Duration load_time(const TierUnderTest& tier, const Case& c, std::int64_t bytes) {
  Simulation run(tier, one_cable(c.capacity, c.delay), TransportSpec{});
  const Diary::Page page = run.run_one(transfer(bytes));
  return page.completed_at ? *page.completed_at - kRunStart : Duration::max();
}

TEST_P(Agreement, BurstTakesAboutAsLongAsFluid) {
  if (!ns3_available()) GTEST_SKIP() << "this build has no ns-3";
  const std::vector<TierUnderTest> tiers = all_tiers();
  const double fluid_s = to_seconds(load_time(tiers[0], GetParam(), kContext));
  const double burst_s = to_seconds(load_time(tiers[1], GetParam(), kContext));
  RecordProperty("fluid_s", std::to_string(fluid_s));
  RecordProperty("burst_s", std::to_string(burst_s));
  EXPECT_NEAR(burst_s, fluid_s, GetParam().difference_max * fluid_s);
}

INSTANTIATE_TEST_SUITE_P(All, Agreement, testing::ValuesIn(cases()),
                         [](const auto& suite_info) { return std::string(suite_info.param.name); });

}  // namespace
}  // namespace sluice
