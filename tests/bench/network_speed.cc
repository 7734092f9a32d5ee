// How fast the tiers simulate: loads per second of one core, and of the tiers with packets what a
// packet costs by size, window and number of loads at once. Measures, asserts nothing. Processor
// time, not wall time, so that other work on the machine disturbs it little.
// Usage: network_speed [SECONDS PER CASE [MB OF THE LOAD FOR TCP]]   (default 1 and 20)
// 0 seconds measure the tier packet against ns-3's TCP alone.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>

#include "tests/net/tiers_fixture.h"

namespace sluice::net_test {
namespace {

// Starts the next chunk when one has arrived, the next load when the last chunk has.
class Loads final : public TransferListener {
 public:
  Loads(Network& network, RunnableClock& clock, std::int64_t num_chunks, DataSize chunk)
      : network_(network), clock_(clock), num_chunks_(num_chunks), chunk_(chunk) {}
  void begin() {
    ++group_;
    left_ = num_chunks_;
    next();
  }
  void on_complete(TransferId) override {
    if (--left_ > 0) return next();
    network_.close(ConnectionGroup{group_});
    ++num_done_;
    num_done_ < num_wanted_ ? begin() : clock_.stop();
  }
  void on_failure(TransferId, TransferFailure) override { std::abort(); }
  std::int64_t run(std::int64_t num_loads) {
    num_done_ = 0;
    num_wanted_ = num_loads;
    begin();
    clock_.run();
    return num_done_;
  }

 private:
  void next() { network_.start(transfer(chunk_.bytes(), group_), *this); }

  Network& network_;
  RunnableClock& clock_;
  std::int64_t num_chunks_;
  DataSize chunk_;
  std::uint64_t group_ = 0;
  std::int64_t left_ = 0, num_done_ = 0, num_wanted_ = 0;
};

LinkTrace jumping() {  // twenty rates, a new one each 100 ms
  LinkTrace trace = constant(mbps(100));
  trace.steps.clear();
  for (int i = 0; i < 20; ++i) {
    trace.steps.push_back({std::chrono::milliseconds{100 * i}, mbps(100 + (i * 1370) % 2900)});
  }
  trace.length = 2s;
  trace.end = TraceEnd::kLoop;
  return trace;
}

struct Case {
  const char* name;
  LinkTrace capacity;
  Duration delay;  // one way
  TransportSpec transport;
};

void measure(const TierUnderTest& tier, const Case& c, double seconds) {
  constexpr std::int64_t kChunks = 6;
  const DataSize chunk = DataSize::bytes(176'000'000 / kChunks);
  Simulation simulation(tier, one_cable(c.capacity, c.delay), c.transport);
  Loads loads(*simulation.network, *simulation.clock, kChunks, chunk);
  const std::clock_t begun = std::clock();
  std::int64_t num_loads = 0, batch = 1;
  double took = 0;
  while (took < seconds) {
    num_loads += loads.run(batch);
    batch = std::min<std::int64_t>(batch * 2, 10'000);
    took = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
  }
  fmt::print("{:6} {:28} {:>10.0f} loads/s {:>12.3f} us per load of 6 chunks, 176 MB\n", tier.name,
             c.name, static_cast<double>(num_loads) / took,
             took / static_cast<double>(num_loads) * 1e6);
}

double processor_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// What simulating a number of transfers of equal size, all at once, cost.
struct PacketCost {
  double took_s = 0, num_packets = 0;  // of data, copies included
  [[nodiscard]] double ns_per_packet() const { return took_s * 1e9 / num_packets; }
};

PacketCost cost_of(const TierUnderTest& tier, const TopologySpec& topology,
                   const TransportSpec& transport, DataSize each, int num_loads) {
  Simulation simulation(tier, topology, transport);
  const double begun_s = processor_seconds();
  for (int i = 1; i <= num_loads; ++i)
    simulation.start(transfer(each.bytes(), static_cast<std::uint64_t>(i)));
  simulation.clock->run();
  PacketCost cost;
  cost.took_s = processor_seconds() - begun_s;
  const LinkUsage usage = simulation.network->usage(LinkId{0});
  cost.num_packets = static_cast<double>(usage.wire_sent.bytes()) /
                     static_cast<double>(topology.links[0].mtu.bytes());
  if (simulation.diary.order().size() != static_cast<std::size_t>(num_loads)) std::abort();
  return cost;
}

TopologySpec cable_of_mtu(DataRate rate, Duration delay, std::int64_t mtu) {
  TopologySpec topology = one_cable(constant(rate), delay);
  for (LinkSpec& link : topology.links) link.mtu = DataSize::bytes(mtu);
  return topology;
}

// The median of five, by time per packet.
template <typename Measure>
PacketCost median_cost(Measure&& measure_once) {
  std::vector<PacketCost> costs;
  for (int i = 0; i < 5; ++i) costs.push_back(measure_once());
  std::sort(costs.begin(), costs.end(), [](const PacketCost& a, const PacketCost& b) {
    return a.ns_per_packet() < b.ns_per_packet();
  });
  return costs[2];
}

void measure_sizes(const TierUnderTest& tier) {
  for (const std::int64_t mtu : {1500, 9000}) {
    const TopologySpec topology = cable_of_mtu(mbps(1000), 10ms, mtu);
    const PacketCost cost =
        median_cost([&] { return cost_of(tier, topology, {}, DataSize::bytes(176'000'000), 1); });
    fmt::print("{:6} 176 MB at {} B, 1 Gbit/s, RTT 20 ms: {:.3f} s, {:.0f} k packets/s\n",
               tier.name, mtu, cost.took_s, 1e6 / cost.ns_per_packet());
  }
}

// The window alone limits: 100 packets in 0.12 ms of round trip, or 100 000 in 120 ms.
void measure_windows(const TierUnderTest& tier) {
  for (const std::int64_t packets : {100, 100'000}) {
    for (const double loss : {0.0, 0.001}) {
      TopologySpec topology = cable_of_mtu(mbps(10'000), 600ns * packets, 1500);
      topology.links[0].loss = RandomLoss{loss};
      topology.links[0].queue.limit = DataSize::bytes(400'000'000);
      TransportSpec transport;
      transport.slow_start = false;
      transport.max_window = DataSize::bytes(1448 * packets);
      const PacketCost cost = median_cost(
          [&] { return cost_of(tier, topology, transport, DataSize::bytes(1'000'000'000), 1); });
      fmt::print("{:6} window of {:6} packets, loss {:.1f} %: {:.0f} ns per packet\n", tier.name,
                 packets, loss * 100, cost.ns_per_packet());
    }
  }
}

void measure_crowds(const TierUnderTest& tier) {
  const TopologySpec topology = cable_of_mtu(mbps(10'000), 1ms, 1500);
  for (const int loads : {1, 8, 32}) {
    const PacketCost cost = median_cost(
        [&] { return cost_of(tier, topology, {}, DataSize::bytes(640'000'000 / loads), loads); });
    fmt::print("{:6} {:2} loads at once over 10 Gbit/s: {:.0f} ns per packet\n", tier.name, loads,
               cost.ns_per_packet());
  }
}

// The same load by ns-3's TCP, once: it takes long.
void measure_against_tcp(DataSize load) {
  const TopologySpec topology = cable_of_mtu(mbps(1000), 10ms, 1500);
  const PacketCost ours =
      median_cost([&] { return cost_of(tier_named("packet"), topology, {}, load, 1); });
  const PacketCost tcp = cost_of(tier_named("tcp"), topology, {}, load, 1);
  fmt::print("{} MB at 1500 B, 1 Gbit/s, RTT 20 ms: packet {:.3f} s, tcp {:.2f} s: {:.0f} times\n",
             load.bytes() / 1'000'000, ours.took_s, tcp.took_s, tcp.took_s / ours.took_s);
}

}  // namespace
}  // namespace sluice::net_test

int main(int argc, char** argv) {
  using namespace sluice::net_test;
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1.0;
  const auto tcp_load = sluice::DataSize::bytes((argc > 2 ? std::atoll(argv[2]) : 20) * 1'000'000);
  if (seconds == 0) {
    if (sluice::ns3_available()) measure_against_tcp(tcp_load);
    return 0;
  }
  const std::vector<Case> cases{
      {"constant, no RTT", constant(mbps(1000)), sluice::Duration::zero(), plain()},
      {"constant, RTT 20 ms, TCP-like", constant(mbps(1000)), 10ms, sluice::TransportSpec{}},
      {"20 rates, RTT 20 ms, TCP-like", jumping(), 10ms, sluice::TransportSpec{}}};
  for (const TierUnderTest& tier : all_tiers()) {
    for (const Case& c : cases) {
      if (tier.is_there && tier.is_fast) measure(tier, c, seconds);
    }
  }
  const TierUnderTest packet = tier_named("packet");
  if (!packet.is_there) return 0;
  measure_sizes(packet);
  measure_windows(packet);
  measure_crowds(packet);
  measure_against_tcp(tcp_load);
}
