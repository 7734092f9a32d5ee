// What the packet tier's links do to real packets: rates that change under them, losses, jitter,
// delays that change, disciplines and cross traffic.
#include <gtest/gtest.h>

#include <tuple>

#include "sim/net/transport/windowed_network.h"
#include "tests/net/tiers_fixture.h"

namespace sluice {
namespace {

using namespace net_test;

constexpr DataSize kMtu = DataSize::bytes(1500);

class Packet : public testing::Test {
 protected:
  void SetUp() override {
    if (!ns3_available()) GTEST_SKIP() << "this build has no ns-3";
  }
  const TierUnderTest tier_ = tier_named("packet");
};

// Packets of 1500 bytes that are all payload.
TransportSpec bare() {
  TransportSpec transport = plain();
  transport.header = DataSize::zero();
  return transport;
}

SteadyFlow steady(LinkTrace rate, std::int64_t packet = 1500) {
  SteadyFlow flow;
  flow.name = "cross";
  flow.from = kStore;
  flow.to = kGpu;
  flow.rate = std::move(rate);
  flow.packet = DataSize::bytes(packet);
  return flow;
}

// 12 000 bits: 5000 in 5 ms at 1 Mbit/s, the other 7000 in 3.5 ms at 2 Mbit/s.
TEST_F(Packet, ARateChangeInMidPacketRetimesItsRestToTheNanosecond) {
  Simulation run(tier_, one_cable(steps({{0us, mbps(1)}, {5ms, mbps(2)}}), 0ms), bare());
  EXPECT_EQ(run.run_one(transfer(1500)).completed_at, kRunStart + 8'500'000ns);
}

// 4000 bits are left when the outage begins; they go after it in 4 ms.
TEST_F(Packet, AnOutageInMidPacketHoldsIt) {
  Simulation run(tier_, one_cable(steps({{0us, mbps(1)}, {8ms, mbps(0)}, {1s, mbps(1)}}), 0ms),
                 bare());
  EXPECT_EQ(run.run_one(transfer(1500)).completed_at, kRunStart + 1004ms);
}

TEST_F(Packet, ADelaySeriesIsReadWhenThePacketLeaves) {
  TopologySpec topology = one_cable(constant(mbps(12)), 0ms);  // 1500 bytes in 1 ms
  topology.links[0].delay_trace = DelayTrace{{{0s, 10ms}, {1500us, 50ms}}, 1s, TraceEnd::kHold};
  Simulation run(tier_, topology, bare());
  Transfer t = transfer(3000);
  t.progress_every = kMtu;
  const Diary::Page page = run.run_one(t);
  ASSERT_EQ(page.progress.size(), 1u);
  EXPECT_EQ(page.progress[0].first, kRunStart + 11ms);
  EXPECT_EQ(page.completed_at, kRunStart + 52ms);
}

// 30 000 bytes per second of cross traffic beside nothing: 20 packets in the first second, the
// first when its bytes are there.
TEST_F(Packet, ASteadyFlowSendsItsRateAlongItsRoute) {
  TopologySpec topology = one_cable(constant(mbps(10)), 10ms);
  topology.steady_flows.push_back(steady(constant(DataRate::bits_per_sec(240'000))));
  Simulation run(tier_, topology, TransportSpec{});
  const auto sent = [&] { return run.network->usage(LinkId{0}).wire_sent; };
  run.clock->run(kRunStart + 49ms);
  EXPECT_EQ(sent(), DataSize::zero());
  run.clock->run(kRunStart + 50ms);
  EXPECT_EQ(sent(), kMtu);
  run.clock->run(kRunStart + 1s);
  EXPECT_EQ(sent(), DataSize::bytes(30'000));
  // The twentieth is 1.2 ms on the wire and 10 ms on the way.
  EXPECT_EQ(run.network->usage(LinkId{0}).wire_delivered, DataSize::bytes(28'500));
  EXPECT_EQ(run.network->usage(LinkId{0}).wire_in_flight, kMtu);
  EXPECT_EQ(run.network->usage(LinkId{1}).wire_sent, DataSize::zero());
}

// 60 of 100 Mbit/s are taken, on and off: 10 MB take 2 s on the rest, 0.8 s on the whole.
TEST_F(Packet, ALoadGetsWhatCrossTrafficLeaves) {
  TopologySpec topology = one_cable(constant(mbps(100)), 5ms);
  topology.links[0].queue.limit = DataSize::bytes(200'000);
  topology.steady_flows.push_back(steady(constant(mbps(60))));
  Simulation run(tier_, topology, TransportSpec{});
  const TransferId id = run.start(transfer(10'000'000));
  run.clock->run(kRunStart + 5s);
  ASSERT_TRUE(run.diary.of(id).completed_at);
  const double took_s = to_seconds(*run.diary.of(id).completed_at - kRunStart);
  EXPECT_GT(took_s, 10.0 * 8 / 40);
  EXPECT_LT(took_s, 1.15 * 10.0 * 8 / 40);
}

// Whatever is sent at random losses of 1 %, all of it arrives; about 13 813 packets, so that the
// share of lost ones has the standard error sqrt(0.01 * 0.99 / 13 813) = 0.00085.
TEST_F(Packet, RandomLossTakesItsShareAndTheTransportMakesItGood) {
  TopologySpec topology = one_cable(constant(mbps(1000)), 5ms);
  topology.links[0].loss = RandomLoss{0.01};
  topology.seed = 3;
  Simulation run(tier_, topology, TransportSpec{});
  const Diary::Page page = run.run_one(transfer(20'000'000));
  ASSERT_TRUE(page.completed_at);
  EXPECT_EQ(page.at_completion, DataSize::bytes(20'000'000));
  const LinkUsage usage = run.network->usage(LinkId{0});
  const double lost = static_cast<double>(usage.wire_dropped.bytes()) /
                      static_cast<double>(usage.wire_sent.bytes());
  EXPECT_NEAR(lost, 0.01, 4 * 0.00085);
}

// RFC 9438, section 4.3: with losses of p the window is that of Reno, sqrt(3 / (2 p)) packets, 38.7
// at 0.1 %: in a round trip of 20 ms 22.4 Mbit/s, whatever the link. Random losses give a little
// more than the regular ones of that formula.
TEST_F(Packet, RandomLossHoldsTheWindowWhereTheoryDoes) {
  TopologySpec topology = one_cable(constant(mbps(1000)), 10ms);
  topology.links[0].loss = RandomLoss{0.001};
  topology.seed = 5;
  Simulation run(tier_, topology, TransportSpec{});
  const Diary::Page page = run.run_one(transfer(150'000'000));
  ASSERT_TRUE(page.completed_at);
  const double packets = 150e6 / 1448 / to_seconds(*page.completed_at - kRunStart) * 0.02;
  EXPECT_NEAR(packets, 38.7, 0.15 * 38.7);
}

// An initial window of ten packets comes at once to a queue of five, behind the one on the wire:
// four are lost. Over the round trip of 20 ms, known from the handshake, they find it empty.
TEST_F(Packet, PacingKeepsTheFirstWindowOutOfASmallQueue) {
  TopologySpec topology = one_cable(constant(mbps(12)), 10ms);  // a packet in 1 ms
  topology.links[0].queue.limit = kMtu * 5;
  const auto dropped = [&](bool pacing) {
    TransportSpec transport;
    transport.pacing = pacing;
    Simulation run(tier_, topology, transport);
    EXPECT_TRUE(run.run_one(transfer(14'480)).completed_at);
    return run.network->usage(LinkId{0}).wire_dropped;
  };
  EXPECT_EQ(dropped(false), kMtu * 4);
  EXPECT_EQ(dropped(true), DataSize::zero());
}

// 120 Mbit/s into 100: 2.5 MB too much each second. The wait passes 5 ms after 25 ms, the first
// drop comes 100 ms later and the n-th at 0.125 + 0.1 * (1 + 1/sqrt(2) + ... 1/sqrt(n - 1)) s,
// which is 0.2 sqrt(n) - 0.021: by 10 s n = 2510 packets or 3.77 MB are gone. (That CoDel is slow
// against what does not yield is known: RFC 8289, section 4.4.)
TEST_F(Packet, CoDelDropsFromAnOverloadByItsLaw) {
  TopologySpec topology = one_cable(constant(mbps(100)), 0ms);
  topology.links[0].queue.limit = DataSize::bytes(100'000'000);
  topology.links[0].queue.discipline = CoDel{};
  topology.steady_flows.push_back(steady(constant(mbps(120))));
  Simulation run(tier_, topology, TransportSpec{});
  run.clock->run(kRunStart + 10s);
  const LinkUsage usage = run.network->usage(LinkId{0});
  EXPECT_NEAR(static_cast<double>(usage.wire_dropped.bytes()) / 1500, 2510, 2);
  EXPECT_NEAR(usage.wire_in_flight.megabytes(), 25 - 3.77, 0.01);
}

// An overload that does not yield fills the queue up to where RED drops a sixth of the packets, the
// share of 20 too many in 120. Drops at an even p come 1 / ((1 + 1/p) / 2) often: p = 1/11 gives
// one of six, so the average stands at 30 000 + 60 000 * (1/11) / 0.1 = 84 545 bytes.
TEST_F(Packet, RedHoldsAnOverloadWhereItDropsTheExcess) {
  TopologySpec topology = one_cable(constant(mbps(100)), 0ms);
  topology.links[0].queue.discipline =
      Red{DataSize::bytes(30'000), DataSize::bytes(90'000), 0.1, 0.002};
  topology.steady_flows.push_back(steady(constant(mbps(120))));
  Simulation run(tier_, topology, TransportSpec{});
  run.clock->run(kRunStart + 10s);
  double sum = 0;
  for (int i = 1; i <= 1000; ++i) {
    run.clock->run(kRunStart + 10s + 10ms * i);
    sum += static_cast<double>(run.network->usage(LinkId{0}).wire_in_flight.bytes()) - 1500;
  }
  EXPECT_NEAR(sum / 1000, 84'545, 2'000);
}

// Writes down every packet that passes between a transport and its carrier.
class Recorder final : public Carrier, private PacketReceiver {
 public:
  using Line = std::tuple<char, Instant, std::int32_t, std::uint64_t, std::uint64_t, std::int64_t>;

  Recorder(const Clock& clock, std::unique_ptr<Carrier> carrier, std::vector<Line>& lines)
      : clock_(clock), carrier_(std::move(carrier)), lines_(lines) {
    carrier_->set_receiver(*this);
  }
  std::int32_t add_route(const Route& links) override { return carrier_->add_route(links); }
  void set_receiver(PacketReceiver& receiver) override { receiver_ = &receiver; }
  [[nodiscard]] LinkUsage usage(LinkId link) const override { return carrier_->usage(link); }
  void send(const PacketFields& fields, DataSize wire) override {
    write('>', fields);
    carrier_->send(fields, wire);
  }

 private:
  void on_packet(const PacketFields& fields) override {
    write('<', fields);
    receiver_->on_packet(fields);
  }
  void write(char way, const PacketFields& f) {
    lines_.emplace_back(way, clock_.now(), f.route, f.channel, f.number, f.payload_bytes);
  }

  const Clock& clock_;
  std::unique_ptr<Carrier> carrier_;
  std::vector<Line>& lines_;
  PacketReceiver* receiver_ = nullptr;
};

// Two loads over one cable (route 0 is its way there, route 1 its way back) with everything that is
// random on it.
std::vector<Recorder::Line> packets_of(std::uint64_t seed) {
  TopologySpec topology = one_cable(steps({{0s, mbps(300)}, {100ms, mbps(50)}}), 7ms);
  topology.links[0].loss = BurstLoss{50ms, 5ms, 0.001, 0.3};
  topology.links[0].jitter = 2ms;
  topology.links[0].queue.discipline =
      Red{DataSize::bytes(30'000), DataSize::bytes(90'000), 0.1, 0.002};
  topology.links[1].loss = RandomLoss{0.01};
  topology.steady_flows.push_back(steady(constant(mbps(20)), 700));
  topology.seed = seed;
  const auto clock = make_ns3_clock();
  std::vector<Recorder::Line> lines;
  auto carrier = std::make_unique<Recorder>(*clock, make_ns3_carrier(topology), lines);
  WindowedNetwork network(*clock, topology, TransportSpec{}, std::move(carrier), DataSize::zero());
  Diary diary(*clock, network);
  (void)network.start(transfer(5'000'000, 1), diary);
  (void)network.start(transfer(5'000'000, 2), diary);
  clock->run(kRunStart + 30s);
  EXPECT_EQ(diary.order().size(), 2u);
  return lines;
}

TEST_F(Packet, TheSameSeedGivesTheSamePacketsAndAnotherSeedOthers) {
  const std::vector<Recorder::Line> first = packets_of(1);
  EXPECT_GT(first.size(), 4 * 3453u);  // each byte of 10 MB in packets of 1448, sent and received
  EXPECT_EQ(first, packets_of(1));
  EXPECT_NE(first, packets_of(2));
}

}  // namespace
}  // namespace sluice
