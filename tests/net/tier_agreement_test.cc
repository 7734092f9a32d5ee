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

// 42 MB through our CUBIC and ns-3's, both with Linux's HyStart: slow start ends where the path
// looks full, so that after a rise of the rate the window grows by 5 % a round trip.
class SlowStart : public testing::TestWithParam<Case> {};

TEST_P(SlowStart, EndsInOurTransportWhereItEndsInTcp) {
  if (!ns3_available()) GTEST_SKIP() << "this build has no ns-3";
  const double packet_s = to_seconds(load_time(tier_named("packet"), GetParam(), 42'000'000));
  const double tcp_s = to_seconds(load_time(tier_named("tcp"), GetParam(), 42'000'000));
  RecordProperty("packet_s", std::to_string(packet_s));
  RecordProperty("tcp_s", std::to_string(tcp_s));
  EXPECT_NEAR(packet_s, tcp_s, GetParam().difference_max * tcp_s);
}

INSTANTIATE_TEST_SUITE_P(
    All, SlowStart,
    testing::Values(Case{"constant_300_mbps_rtt_20_ms", constant(mbps(300)), 10ms, 0.01},
                    Case{"constant_1_gbps_rtt_20_ms", constant(mbps(1000)), 10ms, 0.01},
                    Case{"constant_1_gbps_rtt_2_ms", constant(mbps(1000)), 1ms, 0.01},
                    Case{"step_up_rtt_20_ms", steps({{0s, mbps(100)}, {300ms, mbps(1000)}}), 10ms,
                         0.01}),
    [](const auto& suite_info) { return std::string(suite_info.param.name); });

// 100 Mbit/s hold 167 packets of a round trip of 20 ms, and slow start ends between one and one and
// a half of that; 300 ms at 100 Mbit/s bring 120 more. From 1 Gbit/s on the window is the limit: 14
// round trips at 5 % until it has doubled. Without HyStart the queue of 16 MB holds it already.
TEST(SlowStartOfTiers, WithoutHyStartARiseOfTheRateIsTakenAtOnce) {
  if (!ns3_available()) GTEST_SKIP() << "this build has no ns-3";
  const LinkTrace rise = steps({{0s, mbps(100)}, {300ms, mbps(1000)}});
  for (const char* name : {"fluid", "packet"}) {
    for (const bool hystart : {true, false}) {
      TransportSpec transport;
      transport.hystart = hystart;
      Simulation run(tier_named(name), one_cable(rise, 10ms), transport);
      const Diary::Page page = run.run_one(transfer(42'000'000));
      // 42 MB less the 3.3 of the beginning are 0.32 s at 1 Gbit/s.
      const double after_s = to_seconds(*page.completed_at - kRunStart) - 0.3;
      if (hystart) {
        EXPECT_GT(after_s, 0.6) << name;
      } else {
        EXPECT_LT(after_s, 0.36) << name;
      }
    }
  }
}

}  // namespace
}  // namespace sluice
