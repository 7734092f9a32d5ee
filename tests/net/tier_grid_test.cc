// The fluid tier against the packet tier over a drawn grid of constant and stepped links: how long
// loads take. Sizes of 1 to 176 MB, 0.1 to 3 Gbit/s, RTT of 0.1 to 80 ms, both usual MTUs, 1 to 8
// connections, in one piece or six.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "tests/net/tiers_fixture.h"

namespace sluice {
namespace {

using namespace net_test;

struct GridCase {
  LinkTrace capacity;
  Duration round_trip{};
  DataSize mtu;
  std::int64_t load_bytes = 0;
  std::int32_t connections = 1, num_chunks = 1;
  std::vector<Instant> arrivals;  // of one load each

  [[nodiscard]] std::string text() const {
    return fmt::format("{} x {} MB in {} from {}, RTT {}, MTU {}, {} connections, {} steps",
                       arrivals.size(), static_cast<double>(load_bytes) / 1e6, num_chunks,
                       to_text(capacity.steps.front().rate), to_text(round_trip), mtu.bytes(),
                       connections, capacity.steps.size());
  }
};

// Even on a logarithmic scale.
double between(RandomStream& random, double low, double high) {
  return low * std::pow(high / low, random.uniform());
}

GridCase draw(RandomStream& random, std::size_t num_loads) {
  GridCase c;
  const double bits_per_sec = between(random, 1e8, 3e9);
  const double bytes = between(random, 1e6, 176e6);
  const double alone_s = bytes * 8 / bits_per_sec;  // without start-up
  c.load_bytes = std::llround(bytes);
  c.capacity = constant(DataRate::bits_per_sec(std::llround(bits_per_sec)));
  if (const std::uint64_t kind = random.below(3); kind > 0) {  // a step, down or up, on the way
    const double factor = kind == 1 ? 1.0 / 3 : 3;
    const double at_s = alone_s * random.uniform(0.1, 0.9) * static_cast<double>(num_loads);
    c.capacity.steps.push_back(
        {seconds_to_duration(at_s), DataRate::bits_per_sec(std::llround(bits_per_sec * factor))});
    c.capacity.length = c.capacity.steps.back().start + 1s;
  }
  c.round_trip = seconds_to_duration(between(random, 1e-4, 8e-2));
  c.mtu = DataSize::bytes(random.bernoulli(0.5) ? 1500 : 9000);
  c.connections = 1 << random.below(4);
  c.num_chunks = random.bernoulli(0.5) ? 1 : 6;
  c.arrivals.push_back(kRunStart);
  while (c.arrivals.size() < num_loads)  // together they need about half of the link
    c.arrivals.push_back(c.arrivals.back() + seconds_to_duration(random.exponential(alone_s * 2)));
  return c;
}

// A load whose chunks are asked for one after the other.
class Load final : public TransferListener {
 public:
  Load(Clock& clock, Network& network, const GridCase& c, std::uint64_t group)
      : clock_(clock), network_(network), left_(c.num_chunks) {
    next_ = transfer(c.load_bytes / c.num_chunks, group);
    next_.connections = c.connections;
  }
  void begin() {
    began_ = clock_.now();
    network_.start(next_, *this);
  }
  void on_complete(TransferId) override {
    ended_ = clock_.now();
    if (--left_ > 0) network_.start(next_, *this);
  }
  void on_failure(TransferId, TransferFailure) override { FAIL() << "there is a route"; }
  [[nodiscard]] double took_s() const { return left_ == 0 ? to_seconds(ended_ - began_) : 0; }

 private:
  Clock& clock_;
  Network& network_;
  Transfer next_;
  std::int32_t left_;
  Instant began_, ended_;
};

// Of each load, and at last of all together.
std::vector<double> times_s(const TierUnderTest& tier, const GridCase& c) {
  TopologySpec topology = one_cable(c.capacity, c.round_trip / 2);
  for (LinkSpec& link : topology.links) link.mtu = c.mtu;
  Simulation run(tier, topology, TransportSpec{});
  std::vector<std::unique_ptr<Load>> loads;
  for (const Instant at : c.arrivals) {
    loads.push_back(std::make_unique<Load>(*run.clock, *run.network, c, loads.size() + 1));
    run.clock->schedule(at, [load = loads.back().get()] { load->begin(); });
  }
  run.clock->run();
  std::vector<double> times;
  double last = 0;
  for (std::size_t i = 0; i < loads.size(); ++i) {
    times.push_back(loads[i]->took_s());
    last = std::max(last, to_seconds(c.arrivals[i]) + times.back());
  }
  times.push_back(last);
  return times;
}

struct Errors {
  std::vector<double> of_loads, of_all;  // |fluid / packet - 1|
  static double quantile(std::vector<double> errors, double q) {
    std::sort(errors.begin(), errors.end());
    return errors[static_cast<std::size_t>(q * static_cast<double>(errors.size() - 1))];
  }
};

Errors compare(std::size_t num_cases, std::size_t loads_max, std::uint64_t seed) {
  RandomStream random(seed);
  Errors errors;
  for (std::size_t i = 0; i < num_cases; ++i) {
    const GridCase c = draw(random, loads_max == 1 ? 1 : 2 + random.below(loads_max - 1));
    const std::vector<double> fluid = times_s(tier_named("fluid"), c);
    const std::vector<double> packet = times_s(tier_named("packet"), c);
    for (std::size_t k = 0; k < fluid.size(); ++k) {
      EXPECT_GT(packet[k], 0) << c.text();
      const double error = std::abs(fluid[k] / packet[k] - 1);
      (k + 1 < fluid.size() ? errors.of_loads : errors.of_all).push_back(error);
    }
  }
  return errors;
}

void publish(const std::string& name, const std::vector<double>& errors) {
  for (const auto& [what, q] :
       {std::pair{"median", 0.5}, std::pair{"p95", 0.95}, std::pair{"max", 1.0}}) {
    testing::Test::RecordProperty(name + "_" + what,
                                  fmt::format("{:.4f}", Errors::quantile(errors, q)));
  }
}

TEST(TierGrid, ALoadAloneTakesAsLongInTheFluidTierAsInThePacketTier) {
  if (!ns3_available()) GTEST_SKIP() << "this build has no ns-3";
  const Errors errors = compare(120, 1, 1);
  publish("load", errors.of_loads);
  EXPECT_LE(Errors::quantile(errors.of_loads, 0.5), 0.02);
  EXPECT_LE(Errors::quantile(errors.of_loads, 0.95), 0.05);
}

// Who of several gets how much of a deep queue, and when, is decided by bursts and losses that a
// fluid has not. The errors of single loads are published; the instant at which all are done is
// held to the bounds.
TEST(TierGrid, LoadsThatOverlapAreDoneTogetherAtTheSameTimeInBothTiers) {
  if (!ns3_available()) GTEST_SKIP() << "this build has no ns-3";
  const Errors errors = compare(60, 8, 2);
  publish("load", errors.of_loads);
  publish("all", errors.of_all);
  EXPECT_LE(Errors::quantile(errors.of_all, 0.5), 0.02);
  EXPECT_LE(Errors::quantile(errors.of_all, 0.95), 0.05);
}

}  // namespace
}  // namespace sluice
