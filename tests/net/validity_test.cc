// Which tiers refuse a network, which only doubt it, and that both say why in words.
#include "sim/net/validity.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/net/net_fixture.h"

namespace sluice {
namespace {

using namespace net_test;

bool says(const std::vector<std::string>& sentences, const std::string& word) {
  return std::any_of(sentences.begin(), sentences.end(), [&word](const std::string& sentence) {
    return sentence.find(word) != std::string::npos;
  });
}

TEST(Validity, ADeepConstantLinkIsDoubtedByNoTierOfOurs) {
  const TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
  for (const char* tier : {"fluid", "burst", "packet"}) {
    EXPECT_TRUE(check_tier(tier, topology, {}).ok()) << tier;
    EXPECT_TRUE(doubts_about(tier, topology, {}).empty()) << tier;
  }
  EXPECT_TRUE(check_tier("tcp", topology, {}).ok());
}

TEST(Validity, ATierThatIsNotThereIsRefused) {
  const Status able = check_tier("fliud", one_cable(constant(mbps(1)), 1ms), {});
  ASSERT_FALSE(able.ok());
  EXPECT_EQ(able.error().to_line(),
            "error: --tier fliud: there is no such tier; use fluid, burst, packet or tcp");
}

TEST(Validity, OurTransportIsCubicAndRefusesTheOthers) {
  const TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
  TransportSpec transport;
  transport.congestion = CongestionControl::kBbr;
  for (const char* tier : {"fluid", "burst", "packet"})
    EXPECT_FALSE(check_tier(tier, topology, transport).ok()) << tier;
  EXPECT_TRUE(check_tier("tcp", topology, transport).ok());
}

TEST(Validity, TcpRefusesWhatARealTcpCannotLeaveOut) {
  const TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
  TransportSpec transports[5];
  transports[0].handshake = false;
  transports[1].slow_start = false;
  transports[2].count_headers = false;
  transports[3].header = DataSize::bytes(40);
  transports[4].max_window = DataSize::bytes(std::int64_t{1} << 30);  // 16 KiB above 65535 << 14
  for (const TransportSpec& transport : transports) {
    EXPECT_FALSE(check_tier("tcp", topology, transport).ok());
    EXPECT_TRUE(check_tier("packet", topology, transport).ok());
  }
}

TEST(Validity, TcpRefusesLinksClockedByChunks) {
  const Status able =
      check_tier("tcp", one_cable(by_chunk({mbps(1)}, TraceEnd::kLoop), 1ms), TransportSpec{});
  ASSERT_FALSE(able.ok());
  EXPECT_NE(able.error().to_line().find("'store-gpu' has a rate per chunk"), std::string::npos);
}

TEST(Validity, DctcpNeedsMarksWhereTheNetworkIsSlowest) {
  TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
  TransportSpec transport;
  transport.congestion = CongestionControl::kDctcp;
  Red red{.low = DataSize::bytes(30'000), .high = DataSize::bytes(90'000)};
  topology.links[0].queue.discipline = red;
  const Status able = check_tier("tcp", topology, transport);
  ASSERT_FALSE(able.ok());
  EXPECT_EQ(able.error().to_line(),
            "error: --tier tcp: DCTCP acts on marks, and the slowest link 'store-gpu' marks no "
            "packets; give it a queue with `discipline: red` and `ecn: true`, or use another "
            "congestion control");
  red.ecn = true;
  topology.links[0].queue.discipline = red;
  EXPECT_TRUE(check_tier("tcp", topology, transport).ok());
  EXPECT_FALSE(check_tier("packet", topology, transport).ok());
  for (LinkSpec& link : one_cable(constant(mbps(999)), 10ms).links) topology.links.push_back(link);
  EXPECT_FALSE(check_tier("tcp", topology, transport).ok());
}

TEST(Validity, WhoIsNotEcnCapableIsToldThatAQueueThatMarksDrops) {
  TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
  topology.links[0].queue.discipline =
      Red{.low = DataSize::bytes(90'000), .high = DataSize::bytes(90'000), .ecn = true};
  TransportSpec transport;
  for (const char* tier : {"burst", "packet", "tcp"})
    EXPECT_TRUE(says(doubts_about(tier, topology, transport), "marks for DCTCP alone")) << tier;
  transport.congestion = CongestionControl::kDctcp;
  EXPECT_FALSE(says(doubts_about("tcp", topology, transport), "marks for DCTCP alone"));
}

TEST(Validity, FluidDoubtsLossSmallQueuesJitterAndChunks) {
  TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
  topology.links[0].loss = RandomLoss{0.005};
  EXPECT_TRUE(says(doubts_about("fluid", topology, {}), "loses 0.5 % of packets"));
  topology = one_cable(constant(mbps(1000)), 10ms);
  topology.links[0].jitter = 1ms;
  EXPECT_TRUE(says(doubts_about("fluid", topology, {}), "jitter"));
  // 1 Gbit/s for 20 ms are 2.5 MB.
  topology = one_cable(constant(mbps(1000)), 10ms);
  topology.links[0].queue.limit = DataSize::bytes(2'499'999);
  EXPECT_TRUE(says(doubts_about("fluid", topology, {}), "the queue of link 'store-gpu'"));
  topology.links[0].queue.limit = DataSize::bytes(2'500'000);
  EXPECT_TRUE(doubts_about("fluid", topology, {}).empty());
  EXPECT_TRUE(says(doubts_about("fluid", one_cable(by_chunk({mbps(1)}, TraceEnd::kLoop), 0ms), {}),
                   "rate per chunk"));
}

TEST(Validity, BurstDoubtsLossShortQueuesAndSlowHops) {
  TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
  topology.links[0].loss = RandomLoss{0.01};
  EXPECT_TRUE(says(doubts_about("burst", topology, {}), "whole segments"));
  topology = one_cable(constant(mbps(1000)), 10ms);
  topology.links[0].queue.limit = DataSize::bytes(8 * 65'536 - 1);
  EXPECT_TRUE(says(doubts_about("burst", topology, {}), "below 8 segments"));
  // 64 KiB take 5.2 ms at 100 Mbit/s, which counts only where it is passed on.
  topology = one_cable(constant(mbps(100)), 10ms);
  EXPECT_TRUE(doubts_about("burst", topology, {}).empty());
  topology.nodes.push_back("switch");
  EXPECT_TRUE(says(doubts_about("burst", topology, {}), "stores a segment"));
}

// 100 Gbit/s at 1500 bytes: 8.3 million packets a second, of which a core simulates 2 million.
TEST(Validity, PacketSaysWhatAFastLinkCosts) {
  const auto sentences = doubts_about("packet", one_cable(constant(mbps(100'000)), 10us), {});
  EXPECT_TRUE(says(sentences, "8333333 packets, about 4.2 s of one core"));
  // 20 Gbit/s are 1.7 million: less than a second.
  EXPECT_TRUE(doubts_about("packet", one_cable(constant(mbps(20'000)), 10us), {}).empty());
}

TEST(Validity, TcpDoubtsBbrInADatacentreAndLargeWindows) {
  TransportSpec transport;
  transport.congestion = CongestionControl::kBbr;
  EXPECT_TRUE(says(doubts_about("tcp", one_cable(constant(mbps(3000)), 100us), transport), "BBR"));
  EXPECT_FALSE(says(doubts_about("tcp", one_cable(constant(mbps(3000)), 1ms), transport), "BBR"));
  TopologySpec topology = one_cable(constant(mbps(1000)), 1ms);
  EXPECT_TRUE(says(doubts_about("tcp", topology, {}), "windows on link 'store-gpu'"));
  for (LinkSpec& link : topology.links) link.queue.limit = DataSize::bytes(100'000);
  EXPECT_TRUE(doubts_about("tcp", topology, {}).empty());
}

TEST(Validity, EmulationDoubtsWhatAHostCannotCarry) {
  EXPECT_FALSE(doubts_about("emu", one_cable(constant(mbps(10'000)), 1ms), {}).empty());
  EXPECT_TRUE(doubts_about("emu", one_cable(constant(mbps(3'000)), 1ms), {}).empty());
}

}  // namespace
}  // namespace sluice
