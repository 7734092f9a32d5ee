// Small networks, and a listener that writes down what happens: shared by the tests of every tier.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "sim/net/network.h"

namespace sluice::net_test {

using namespace std::chrono_literals;

inline constexpr NodeId kStore{0}, kGpu{1};

inline DataRate mbps(std::int64_t n) {
  return DataRate::bits_per_sec(n * 1'000'000);
}

// A capacity that takes these rates from these instants on, and keeps the last.
inline LinkTrace steps(std::vector<RateStep> of) {
  LinkTrace trace;
  trace.name = "by hand";
  trace.end = TraceEnd::kHold;
  trace.length = of.back().start + 1s;
  trace.steps = std::move(of);
  return trace;
}
inline LinkTrace constant(DataRate rate) {
  return steps({{0s, rate}});
}
inline LinkTrace by_chunk(std::vector<DataRate> rates, TraceEnd end) {
  LinkTrace trace;
  trace.name = "by hand, per chunk";
  trace.clock = TraceClock::kChunk;
  trace.end = end;
  for (const DataRate rate : rates) trace.steps.push_back({0s, rate});
  return trace;
}

// store --> gpu, with a way back of the same kind.
inline TopologySpec one_cable(LinkTrace capacity, Duration delay) {
  TopologySpec topology;
  topology.nodes = {"store", "gpu"};
  LinkSpec link;
  link.name = "store-gpu";
  link.from = kStore;
  link.to = kGpu;
  link.capacity = std::move(capacity);
  link.delay = delay;
  add_cable(topology, link);
  return topology;
}

// Nothing but capacity and delay: no handshake, no window, no headers.
inline TransportSpec plain() {
  TransportSpec transport;
  transport.handshake = false;
  transport.slow_start = false;
  transport.count_headers = false;
  return transport;
}

inline Transfer transfer(std::int64_t bytes, std::uint64_t group = 1) {
  Transfer t;
  t.from = kStore;
  t.to = kGpu;
  t.size = DataSize::bytes(bytes);
  t.group = ConnectionGroup{group};
  return t;
}

// Writes down when what happened to each transfer.
class Diary final : public TransferListener {
 public:
  struct Page {
    std::optional<Instant> first_byte_at, completed_at, failed_at;
    std::optional<TransferFailure> why;
    std::vector<std::pair<Instant, DataSize>> progress;
    DataSize at_completion;
  };
  Diary(const Clock& clock, const Network& network) : clock_(clock), network_(network) {}

  void on_first_byte(TransferId id) override { pages_[id].first_byte_at = clock_.now(); }
  void on_progress(TransferId id, DataSize delivered) override {
    pages_[id].progress.emplace_back(clock_.now(), delivered);
  }
  void on_complete(TransferId id) override {
    pages_[id].completed_at = clock_.now();
    pages_[id].at_completion = network_.delivered(id);
    order_.push_back(id);
  }
  void on_failure(TransferId id, TransferFailure why) override {
    pages_[id].failed_at = clock_.now();
    pages_[id].why = why;
  }
  [[nodiscard]] const Page& of(TransferId id) { return pages_[id]; }
  [[nodiscard]] const std::vector<TransferId>& order() const { return order_; }

 private:
  const Clock& clock_;
  const Network& network_;
  std::map<TransferId, Page> pages_;
  std::vector<TransferId> order_;  // of completion
};

}  // namespace sluice::net_test
