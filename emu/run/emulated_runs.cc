#include "emu/run/emulated_runs.h"

#include "base/nanobits.h"
#include "emu/client/decode_worker.h"
#include "emu/client/socket_network.h"
#include "emu/host/cpu_use.h"
#include "emu/run/host_health.h"
#include "emu/run/single_link.h"
#include "emu/server/server.h"

namespace sluice {
namespace {

constexpr DataSize kEncodedMemory = DataSize::bytes(std::int64_t{2} << 30);

const char* kernel_name(CongestionControl congestion) {
  switch (congestion) {
    case CongestionControl::kBbr:
      return "bbr";
    case CongestionControl::kLinuxReno:
      return "reno";
    default:
      return "cubic";
  }
}

Result<ListeningSocket> listen_at(const LinkEnd& end) {
  if (!end.space) return ListeningSocket::open("127.0.0.1", 0);
  std::optional<ListeningSocket> socket;
  const Status opened = end.space->run([&]() -> Status {
    Result<ListeningSocket> made = ListeningSocket::open(end.address, 0);
    if (!made) return made.error();
    socket.emplace(std::move(*made));
    return {};
  });
  if (!opened) return opened.error();
  return std::move(*socket);
}

// As much as leaves within the time that a busy host may keep the server from its processor.
DataSize unsent_limit(const LinkSpec& link) {
  constexpr Duration kAwayMax = std::chrono::milliseconds{4};
  const TraceSummary trace = summarise(link.capacity);
  return std::max(ServerOptions{}.unsent_limit, Nanobits::flown(trace.max, kAwayMax).whole_bytes());
}

// A network that says when a load is over, for its decoded chunks to make room, and when its stage
// is.
class StageNetwork final : public Network {
 public:
  StageNetwork(std::unique_ptr<Network> network, std::function<void(ConnectionGroup)> on_load_end,
               std::function<void()> on_end)
      : network_(std::move(network)),
        on_load_end_(std::move(on_load_end)),
        on_end_(std::move(on_end)) {}
  ~StageNetwork() override { on_end_(); }
  TransferId start(const Transfer& transfer, TransferListener& listener) override {
    return network_->start(transfer, listener);
  }
  DataSize cancel(TransferId id) override { return network_->cancel(id); }
  [[nodiscard]] DataSize delivered(TransferId id) const override { return network_->delivered(id); }
  void close(ConnectionGroup group) override {
    network_->close(group);
    on_load_end_(group);
  }
  [[nodiscard]] std::optional<Duration> round_trip(NodeId from, NodeId to,
                                                   ConnectionGroup group) const override {
    return network_->round_trip(from, to, group);
  }
  [[nodiscard]] DataRate capacity_ahead(NodeId from, NodeId to, ConnectionGroup group,
                                        std::optional<std::int64_t> chunk_index) const override {
    return network_->capacity_ahead(from, to, group, chunk_index);
  }
  [[nodiscard]] LinkUsage usage(LinkId link) const override { return network_->usage(link); }

 private:
  std::unique_ptr<Network> network_;
  std::function<void(ConnectionGroup)> on_load_end_;
  std::function<void()> on_end_;
};

}  // namespace

struct EmulatedRuns::State {
  State(const ScenarioContents& c, EmulationOptions o) : contents(c), options(std::move(o)) {
    catalogue =
        std::make_shared<const Catalogue>(contents.contents->find(contents.context)->catalogue());
  }

  // Fresh pages take longer than the decode that first writes to them; no run shall pay for them.
  void warm_memory() {
    warm_encoded_memory();
    std::vector<std::shared_ptr<KvCache>> all;
    const ContextContents& context = *contents.contents->find(contents.context);
    for (std::size_t i = 0; i < catalogue->chunks.size(); ++i) {
      Result<std::shared_ptr<KvCache>> cache =
          memory->borrow(context.find(static_cast<std::int64_t>(i), 0)->header.shape,
                         catalogue->chunks[i].decoded_size);
      if (!cache) return;  // those that fit take turns
      all.push_back(std::move(*cache));
    }
  }

  void warm_encoded_memory() {
    std::vector<std::shared_ptr<ChunkBuffer>> all;
    DataSize sum;
    for (const ChunkEntry& chunk : catalogue->chunks) {
      DataSize largest;
      for (const ChunkVersion& version : chunk.versions) largest = std::max(largest, version.size);
      sum += largest;
      if (sum > kEncodedMemory) return;
      all.push_back(encoded_memory->borrow(static_cast<std::size_t>(largest.bytes())));
      std::ranges::fill(all.back()->span(), std::byte{0});
    }
  }

  Status prepare_link(const EmulatedLinkSpec& spec) {
    if (link) return link->rearm(spec);
    const Result<const LinkEmulator*> chosen = choose_emulator(options.emulator, spec);
    if (!chosen) return chosen.error();
    emulator = *chosen;
    Result<std::unique_ptr<EmulatedLink>> opened = emulator->open(spec);
    if (!opened) return opened.error();
    link = std::move(*opened);
    warm_memory();
    const Status started = start_server(spec);
    if (!started) {  // the next run tries anew
      server.reset();
      link.reset();
    }
    return started;
  }

  Status start_server(const EmulatedLinkSpec& spec) {
    Result<ListeningSocket> socket = listen_at(link->far_end());
    if (!socket) return socket.error();
    const std::uint16_t port = socket->port();
    const char* congestion = kernel_name(contents.scenario.transport.congestion);
    Result<std::unique_ptr<Server>> started =
        Server::start(contents.contents, std::move(*socket),
                      {.key = std::nullopt,
                       .in_own_namespace = link->far_end().space != nullptr,
                       .congestion = congestion,
                       .unsent_limit = unsent_limit(spec.down)});
    if (!started) return started.error();
    server = std::move(*started);
    const Result<std::uint16_t> reached = link->relay_to(port);
    if (!reached) return reached.error();
    place = {.address = link->far_end().address,
             .port = *reached,
             .key = std::nullopt,
             .space = link->near_end().space,
             .congestion = congestion,
             .receive_window = contents.scenario.transport.max_window};
    return {};
  }

  Result<Engine> make_engine(const TopologySpec& topology, HealthRecorder& health,
                             std::size_t num_gpus) {
    EmulatedLinkSpec spec = emulated_link_of(topology);
    if (Status ready = prepare_link(spec); !ready) return ready.error();
    auto clock = std::make_unique<RealClock>();
    auto cursor = std::make_shared<const LinkSpec>(spec.down);
    const RealClock* time = clock.get();
    PatienceLimits patience;
    patience.stall_time = patience.give_up_time = contents.scenario.workload.give_up;
    auto network = std::make_unique<SocketNetwork>(
        *clock, received,
        SocketNetworkOptions{
            .server = place,
            .patience = patience,
            .catalogue = catalogue,
            .memory = encoded_memory,
            .propagation = mean_delay(spec.down) + mean_delay(spec.up),
            .capacity_ahead =
                [cursor, time](std::optional<std::int64_t>) {
                  return TraceCursor(cursor->capacity, cursor->trace_offset).rate_at(time->now());
                },
            .usage =
                [this](LinkId id) {
                  return id.value == 0 ? link->usage_down() : link->usage_up();
                }});
    Engine engine;
    std::vector<DecodeWorker*> workers;
    for (std::size_t i = 0; i < num_gpus; ++i) {
      auto worker = std::make_unique<DecodeWorker>(
          *clock, received,
          DecodeWorkerOptions{
              .catalogue = catalogue, .threads = options.decode_threads, .memory = memory});
      workers.push_back(worker.get());
      engine.gpus.push_back(std::move(worker));
    }
    engine.network = std::make_unique<StageNetwork>(
        std::move(network),
        [workers](ConnectionGroup load) {
          for (DecodeWorker* worker : workers) worker->release(load);
        },
        [this, &health] { health.add(link->health(), link->usage_down(), link->usage_up()); });
    engine.clock = std::move(clock);
    return engine;
  }

  const ScenarioContents& contents;
  EmulationOptions options;
  std::shared_ptr<const Catalogue> catalogue;
  const LinkEmulator* emulator = nullptr;
  std::unique_ptr<EmulatedLink> link;
  std::unique_ptr<Server> server;
  ServerPlace place;
  ReceivedChunks received;
  std::shared_ptr<EncodedMemory> encoded_memory = EncodedMemory::of(kEncodedMemory);
  std::shared_ptr<DecodedMemory> memory = DecodedMemory::of(DataSize::bytes(std::int64_t{8} << 30));
};

EmulatedRuns::EmulatedRuns(const ScenarioContents& contents, EmulationOptions options)
    : state_(std::make_unique<State>(contents, std::move(options))) {}

EmulatedRuns::~EmulatedRuns() = default;

Result<RunOutcome> EmulatedRuns::run(const PolicySpec& policy, std::int64_t replicate) {
  HealthRecorder health;
  TimerLateness timers;
  const CpuSampler cpu;
  Result<RunOutcome> outcome =
      run_replicate(state_->contents.scenario, policy, replicate,
                    [&](TopologySpec topology, const TransportSpec&, std::size_t num_gpus) {
                      return state_->make_engine(topology, health, num_gpus);
                    });
  if (!outcome) return outcome;
  outcome->metrics.health = health.finish(state_->emulator->id, timers.stop(), cpu.since_start());
  return outcome;
}

}  // namespace sluice
