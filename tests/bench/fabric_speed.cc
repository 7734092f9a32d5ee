// How fast the fluid tier simulates many loads at once on a large network: 1 to 64 of them on a
// leaf-spine fabric of 256 hosts, from drawn hosts to drawn hosts or all to one. Processor time of
// one core; measures, asserts nothing. Usage: fabric_speed [LOADS PER CASE]
#include <fmt/format.h>

#include <cstdlib>
#include <ctime>

#include "base/random.h"
#include "base/sim_clock.h"
#include "sim/net/fluid/fluid_network.h"
#include "tests/net/net_fixture.h"

namespace sluice::net_test {
namespace {

constexpr int kLeaves = 16, kSpines = 8, kHostsPerLeaf = 16, kHosts = kLeaves * kHostsPerLeaf;

// Each leaf is tied to every spine; 25 Gbit/s everywhere.
TopologySpec leaf_spine() {
  TopologySpec topology;
  for (int i = 0; i < kHosts + kLeaves + kSpines; ++i)
    topology.nodes.push_back(fmt::format("n{}", i));
  LinkSpec link;
  link.capacity = constant(mbps(25'000));
  link.delay = 1us;
  link.mtu = DataSize::bytes(9000);
  const auto cable = [&](int from, int to) {
    link.name = fmt::format("{}-{}", from, to);
    link.from = NodeId{from};
    link.to = NodeId{to};
    add_cable(topology, link);
  };
  for (int host = 0; host < kHosts; ++host) cable(host, kHosts + host / kHostsPerLeaf);
  for (int leaf = 0; leaf < kLeaves; ++leaf) {
    for (int spine = 0; spine < kSpines; ++spine) cable(kHosts + leaf, kHosts + kLeaves + spine);
  }
  return topology;
}

// So many loads at a time; whoever is done is followed by another between hosts drawn anew.
class Loads final : public TransferListener {
 public:
  Loads(Network& network, RunnableClock& clock, bool incast)
      : network_(network), clock_(clock), incast_(incast) {}
  std::uint64_t run(std::int64_t concurrent, std::int64_t num_loads) {
    left_ = num_loads;
    for (std::int64_t i = 0; i < concurrent; ++i) next();
    return clock_.run();
  }
  void on_complete(TransferId id) override {
    network_.close(groups_.extract(id).mapped());
    if (left_ > 0) next();
  }
  void on_failure(TransferId, TransferFailure) override { std::abort(); }

 private:
  void next() {
    --left_;
    const auto bytes = 1'000'000 + static_cast<std::int64_t>(random_.below(50'000'000));
    Transfer load = transfer(bytes, ++group_);
    load.from = NodeId{static_cast<int>(1 + random_.below(kHosts - 1))};
    do {
      load.to = NodeId{incast_ ? 0 : static_cast<int>(random_.below(kHosts))};
    } while (load.to == load.from);
    groups_[network_.start(load, *this)] = load.group;
  }

  Network& network_;
  RunnableClock& clock_;
  bool incast_;
  RandomStream random_{1};
  std::map<TransferId, ConnectionGroup> groups_;
  std::uint64_t group_ = 0;
  std::int64_t left_ = 0;
};

void measure(std::int64_t concurrent, bool incast, std::int64_t num_loads) {
  SimClock clock;
  FluidNetwork network(clock, leaf_spine(), TransportSpec{});
  Loads loads(network, clock, incast);
  const std::clock_t begun = std::clock();
  const std::uint64_t events = loads.run(concurrent, num_loads);
  const double took_us = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC * 1e6;
  fmt::print("{:2} loads at once {:15} {:>9.0f} loads/s {:>8.2f} us per load, {:.2f} per event\n",
             concurrent, incast ? "to one host" : "among all",
             static_cast<double>(num_loads) / took_us * 1e6,
             took_us / static_cast<double>(num_loads), took_us / static_cast<double>(events));
}

}  // namespace
}  // namespace sluice::net_test

int main(int argc, char** argv) {
  const std::int64_t num_loads = argc > 1 ? std::atoll(argv[1]) : 20'000;
  for (const bool incast : {false, true}) {
    for (const std::int64_t concurrent : {1, 4, 16, 64})
      sluice::net_test::measure(concurrent, incast, num_loads);
  }
}
