// How fast the tiers simulate: loads per second of one core. Prints one line per tier and case;
// measures, asserts nothing. Processor time, not wall time, so that other work on the machine
// disturbs it little. Usage: network_speed [SECONDS PER CASE]   (default 1)
#include <fmt/format.h>

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

}  // namespace
}  // namespace sluice::net_test

int main(int argc, char** argv) {
  using namespace sluice::net_test;
  const double seconds = argc > 1 ? std::atof(argv[1]) : 1.0;
  const std::vector<Case> cases{
      {"constant, no RTT", constant(mbps(1000)), sluice::Duration::zero(), plain()},
      {"constant, RTT 20 ms, TCP-like", constant(mbps(1000)), 10ms, sluice::TransportSpec{}},
      {"20 rates, RTT 20 ms, TCP-like", jumping(), 10ms, sluice::TransportSpec{}}};
  for (const TierUnderTest& tier : all_tiers()) {
    for (const Case& c : cases) {
      if (tier.is_there) measure(tier, c, seconds);
    }
  }
}
