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

// 42 MB through our CUBIC and ns-3's, which leaves slow start when it sees its acknowledgements
// stretch (HyStart). Ours does not: it fills the queue, and has the window when the rate rises.
struct SlowStartCase {
  const char* name;
  LinkTrace capacity;
  Duration delay;                         // one way
  double tcp_longer_min, tcp_longer_max;  // as a share of the packet tier's time
};

std::ostream& operator<<(std::ostream& out, const SlowStartCase& c) {
  return out << c.name;
}

class SlowStart : public testing::TestWithParam<SlowStartCase> {};

TEST_P(SlowStart, OfNs3LeavesEarlyWhereOursFillsThePath) {
  if (!ns3_available()) GTEST_SKIP() << "this build has no ns-3";
  const SlowStartCase& c = GetParam();
  const Case path{c.name, c.capacity, c.delay};
  const double packet_s = to_seconds(load_time(tier_named("packet"), path, 42'000'000));
  const double tcp_s = to_seconds(load_time(tier_named("tcp"), path, 42'000'000));
  RecordProperty("packet_s", std::to_string(packet_s));
  RecordProperty("tcp_s", std::to_string(tcp_s));
  EXPECT_GE(tcp_s, (1 + c.tcp_longer_min) * packet_s);
  EXPECT_LE(tcp_s, (1 + c.tcp_longer_max) * packet_s);
}

INSTANTIATE_TEST_SUITE_P(
    All, SlowStart,
    testing::Values(
        SlowStartCase{"constant_300_mbps_rtt_20_ms", constant(mbps(300)), 10ms, -0.01, 0.01},
        SlowStartCase{"constant_1_gbps_rtt_20_ms", constant(mbps(1000)), 10ms, -0.01, 0.01},
        SlowStartCase{"constant_1_gbps_rtt_2_ms", constant(mbps(1000)), 1ms, -0.01, 0.01},
        SlowStartCase{"step_up_rtt_20_ms", steps({{0s, mbps(100)}, {300ms, mbps(1000)}}), 10ms, 0.2,
                      0.7}),
    [](const auto& suite_info) { return std::string(suite_info.param.name); });

}  // namespace
}  // namespace sluice
