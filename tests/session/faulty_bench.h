// A load whose network and GPU fail by script: the fluid tier and the simulated GPU, between them
// and the session the faults.
#pragma once

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "tests/session/load_bench.h"

namespace sluice {

// What happens to one transfer instead of arriving: after 10 ms, with this much of it here.
struct TransferFault {
  TransferFailure why = TransferFailure::kStalled;
  DataSize came;
};

// The n-th transfer meets the n-th fault; nullopt and those behind the script's end arrive.
class FaultyNetwork final : public Network {
 public:
  using Script = std::vector<std::optional<TransferFault>>;
  FaultyNetwork(Clock& clock, Network& network, Script script)
      : clock_(&clock), network_(&network), script_(std::move(script)) {}

  TransferId start(const Transfer& transfer, TransferListener& listener) override {
    started.push_back(transfer);
    const std::size_t n = started.size() - 1;
    if (n >= script_.size() || !script_[n]) return network_->start(transfer, listener);
    const TransferId id{kFaulty + n};
    failing_[id] = *script_[n];
    clock_->schedule_in(std::chrono::milliseconds{10}, [this, id, &listener] {
      const auto found = failing_.find(id);
      if (found == failing_.end()) return;  // cancelled
      listener.on_failure(id, found->second.why);
      failing_.erase(id);
    });
    return id;
  }
  DataSize cancel(TransferId id) override {
    if (id.value < kFaulty) return network_->cancel(id);
    failing_.erase(id);
    return DataSize::zero();
  }
  [[nodiscard]] DataSize delivered(TransferId id) const override {
    if (id.value < kFaulty) return network_->delivered(id);
    return failing_.contains(id) ? failing_.at(id).came : DataSize::zero();
  }
  void close(ConnectionGroup group) override { network_->close(group); }
  [[nodiscard]] std::optional<Duration> round_trip(NodeId from, NodeId to,
                                                   ConnectionGroup group) const override {
    return network_->round_trip(from, to, group);
  }
  [[nodiscard]] DataRate capacity_ahead(NodeId from, NodeId to, ConnectionGroup group,
                                        std::optional<std::int64_t> index) const override {
    return network_->capacity_ahead(from, to, group, index);
  }
  [[nodiscard]] LinkUsage usage(LinkId link) const override { return network_->usage(link); }

  std::vector<Transfer> started;

 private:
  static constexpr std::uint64_t kFaulty = std::uint64_t{1} << 40;
  Clock* clock_;
  Network* network_;
  Script script_;
  std::map<TransferId, TransferFault> failing_;
};

// Of decode jobs the ones whose number is in the script fail when they end.
class FaultyGpu final : public Gpu {
 public:
  FaultyGpu(Gpu& gpu, std::vector<std::size_t> script) : gpu_(&gpu), script_(std::move(script)) {}
  GpuJobId submit(GpuJob job) override {
    if (job.kind == GpuJobKind::kDecode) {
      const std::size_t n = num_decodes_++;
      if (std::find(script_.begin(), script_.end(), n) != script_.end())
        job.on_done = [failed = job.on_failed] { failed("section 1 is damaged"); };
    }
    return gpu_->submit(std::move(job));
  }
  void cancel(GpuJobId id) override { gpu_->cancel(id); }
  [[nodiscard]] Duration wait() const override { return gpu_->wait(); }
  [[nodiscard]] Duration busy_time() const override { return gpu_->busy_time(); }

 private:
  Gpu* gpu_;
  std::vector<std::size_t> script_;
  std::size_t num_decodes_ = 0;
};

struct FaultyOutcome {
  LoadRecord load;
  std::vector<Transfer> transfers;
};

// The load of `bench` (its rate is 8 Mbit/s, its round trip 20 ms) among faults.
inline FaultyOutcome run_with_faults(LoadBench& bench, const ScriptedPolicy::Rule& rule,
                                     FaultyNetwork::Script transfers,
                                     std::vector<std::size_t> decodes = {}) {
  TopologySpec topology{.nodes = {"store", "gpu"}, .links = {}};
  add_cable(topology,
            {.name = "link",
             .from = NodeId{0},
             .to = NodeId{1},
             .capacity = {.name = "constant",
                          .length = std::chrono::seconds{1},
                          .steps = {{Duration::zero(), DataRate::bits_per_sec(8'000'000)}}},
             .trace_offset = {},
             .delay = std::chrono::milliseconds{10}});
  Result<Engine> engine = make_engine("fluid", topology, bench.transport);
  FaultyNetwork network(*engine->clock, *engine->network, std::move(transfers));
  SimGpu sim_gpu(*engine->clock);
  FaultyGpu gpu(sim_gpu, std::move(decodes));
  ScriptedPolicy policy(rule);
  Session session(*engine->clock, network, gpu, policy, bench.plan, [&] { engine->clock->stop(); });
  engine->clock->schedule(kRunStart, [&] { session.begin(); });
  engine->clock->run(kRunStart + std::chrono::minutes{1});
  session.abandon();
  return {session.record(), network.started};
}

}  // namespace sluice
