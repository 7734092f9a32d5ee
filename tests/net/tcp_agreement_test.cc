// Our transport (tier packet) against ns-3's TCP with CUBIC (tier tcp) over the same devices: the
// time until everything has arrived, for one load and for eight that begin at once.
#include <gtest/gtest.h>

#include "tests/net/tiers_fixture.h"

namespace sluice {
namespace {

using namespace net_test;

struct Network {
  const char* name;
  LinkTrace capacity;
  Duration delay;  // one way
  std::int64_t mtu, queue_bytes, bytes;
};

// Queues are 16 MB or what a round trip holds.
std::vector<Network> networks() {
  const LinkTrace g1 = constant(mbps(1000)), g3 = constant(mbps(3000)), m100 = constant(mbps(100));
  const LinkTrace down = steps({{0s, mbps(1000)}, {100ms, mbps(200)}});
  const LinkTrace up = steps({{0s, mbps(200)}, {300ms, mbps(1000)}});
  return {{"deep_1g_rtt_20ms", g1, 10ms, 9000, 16'000'000, 176'000'000},
          {"short_1g_rtt_20ms", g1, 10ms, 9000, 2'500'000, 176'000'000},
          {"deep_3g_rtt_200us", g3, 100us, 9000, 16'000'000, 176'000'000},
          {"deep_3g_rtt_2ms", g3, 1ms, 9000, 16'000'000, 176'000'000},
          {"short_3g_rtt_2ms", g3, 1ms, 9000, 750'000, 176'000'000},
          {"deep_100m_rtt_20ms", m100, 10ms, 9000, 16'000'000, 44'000'000},
          {"short_100m_rtt_20ms", m100, 10ms, 9000, 250'000, 44'000'000},
          {"deep_down_rtt_20ms", down, 10ms, 9000, 16'000'000, 88'000'000},
          {"short_down_rtt_20ms", down, 10ms, 9000, 2'500'000, 88'000'000},
          {"deep_up_rtt_20ms", up, 10ms, 9000, 16'000'000, 176'000'000},
          {"short_up_rtt_20ms", up, 10ms, 9000, 2'500'000, 176'000'000},
          {"deep_1g_rtt_20ms_mtu_1500", g1, 10ms, 1500, 16'000'000, 20'000'000},
          {"short_1g_rtt_20ms_mtu_1500", g1, 10ms, 1500, 2'500'000, 20'000'000},
          {"short_100m_rtt_20ms_mtu_1500", m100, 10ms, 1500, 250'000, 20'000'000},
          {"short_1g_rtt_2ms_mtu_1500", g1, 1ms, 1500, 250'000, 40'000'000}};
}

struct Case {
  Network network;
  int loads;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.network.name << ", " << c.loads << " loads";
}

std::vector<Case> cases(int loads) {
  std::vector<Case> all;
  for (const Network& network : networks()) all.push_back({network, loads});
  return all;
}

struct Outcome {
  double took_s = 0;
  DataSize dropped;
};

Outcome run_loads(const TierUnderTest& tier, const Case& c) {
  TopologySpec topology = one_cable(c.network.capacity, c.network.delay);
  for (LinkSpec& link : topology.links) {
    link.mtu = DataSize::bytes(c.network.mtu);
    link.queue.limit = DataSize::bytes(c.network.queue_bytes);
  }
  Simulation run(tier, topology, TransportSpec{});
  std::vector<TransferId> ids;
  for (int load = 1; load <= c.loads; ++load)
    ids.push_back(run.start(transfer(c.network.bytes / c.loads, static_cast<std::uint64_t>(load))));
  run.clock->run();
  Instant last;
  for (const TransferId id : ids) last = std::max(last, run.diary.of(id).completed_at.value());
  return {to_seconds(last - kRunStart), run.network->usage(LinkId{0}).wire_dropped};
}

class TcpAgreement : public testing::TestWithParam<Case> {};

TEST_P(TcpAgreement, OurTransportTakesAboutAsLongAsTcp) {
  if (!ns3_available()) GTEST_SKIP() << "this build has no ns-3";
  const Outcome ours = run_loads(tier_named("packet"), GetParam());
  const Outcome tcp = run_loads(tier_named("tcp"), GetParam());
  RecordProperty("packet_s", std::to_string(ours.took_s));
  RecordProperty("tcp_s", std::to_string(tcp.took_s));
  RecordProperty("packet_dropped", to_text(ours.dropped));
  RecordProperty("tcp_dropped", to_text(tcp.dropped));
  const double difference_max = GetParam().loads == 1 ? 0.01 : 0.05;
  EXPECT_NEAR(ours.took_s, tcp.took_s, difference_max * tcp.took_s);
}

std::string name_of(const testing::TestParamInfo<Case>& info) {
  return info.param.network.name;
}

INSTANTIATE_TEST_SUITE_P(OneLoad, TcpAgreement, testing::ValuesIn(cases(1)), name_of);
INSTANTIATE_TEST_SUITE_P(EightLoads, TcpAgreement, testing::ValuesIn(cases(8)), name_of);

}  // namespace
}  // namespace sluice
