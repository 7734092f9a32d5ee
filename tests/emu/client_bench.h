// A server in this process and a client beside it, over loopback: whole loads with real bytes.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emu/client/decode_worker.h"
#include "emu/client/plan.h"
#include "emu/client/socket_network.h"
#include "emu/server/server.h"
#include "sim/session/session.h"
#include "tests/emu/made_contents.h"
#include "tests/session/load_bench.h"

namespace sluice {

// Three chunks of about 100 kB at int8, and a cheaper level.
[[nodiscard]] inline std::shared_ptr<const Contents> client_contents() {
  static const std::shared_ptr<const Contents> kept = [] {
    ContentsSpec spec = small_spec();
    spec.chunk_tokens = {512, 512, 512};
    auto made = make_contents(spec);
    auto contents = std::make_shared<Contents>();
    if (!made || !contents->add(std::move(*made))) ADD_FAILURE() << "no contents";
    return contents;
  }();
  return kept;
}

class ClientBench {
 public:
  explicit ClientBench(std::shared_ptr<const Contents> contents = client_contents(),
                       ServerOptions options = {})
      : contents_(std::move(contents)), server_options_(std::move(options)) {
    start_server(0);
    place.port = server->port();
    place.key = server_options_.key;
    catalogue =
        std::make_shared<const Catalogue>(contents_->contexts().begin()->second.catalogue());
    patience.stall_time = std::chrono::milliseconds{300};
    patience.give_up_time = std::chrono::seconds{3};
  }

  void start_server(std::uint16_t port) {
    auto socket = ListeningSocket::open("127.0.0.1", port);
    ASSERT_TRUE(socket.ok()) << socket.error().to_line();
    auto started = Server::start(contents_, std::move(*socket), server_options_);
    ASSERT_TRUE(started.ok()) << started.error().to_line();
    server = std::move(*started);
  }

  // Network and decoder, made at the first use, with what the members say until then.
  void make_client() {
    if (network) return;
    network = std::make_unique<SocketNetwork>(
        clock, received,
        SocketNetworkOptions{.server = place,
                             .patience = patience,
                             .catalogue = catalogue,
                             .connections_min = connections,
                             .transfer_max = transfer_max,
                             .propagation = std::chrono::milliseconds{7}});
    worker = std::make_unique<DecodeWorker>(
        clock, received,
        DecodeWorkerOptions{.catalogue = catalogue, .memory = DecodedMemory::of(memory_max)});
  }

  // A load from now on, at most 20 s long; `meanwhile` runs once it has begun.
  LoadRecord run(const ScriptedPolicy::Rule& rule, const std::function<void()>& meanwhile = {}) {
    make_client();
    Result<LoadPlan> made =
        plan_from_catalogue(*catalogue, index_, {.slo = std::chrono::seconds{20}});
    if (!made) {
      ADD_FAILURE() << made.error().to_line();
      return {};
    }
    plan = std::move(*made);
    if (adjust_plan) adjust_plan(plan);
    ScriptedPolicy policy(rule);
    Session session(clock, *network, *worker, policy, plan, [this] { clock.stop(); });
    clock.schedule(clock.now(), [&] {
      session.begin();
      if (meanwhile) meanwhile();
    });
    const TimerId end = clock.schedule_in(std::chrono::seconds{20}, [this] { clock.stop(); });
    clock.run();
    clock.cancel(end);
    session.abandon();
    ++index_;
    return session.record();
  }

  [[nodiscard]] std::int64_t num_verified() const {
    return worker->num_verified(ConnectionGroup{static_cast<std::uint64_t>(index_ - 1)});
  }

  ServerPlace place;
  PatienceLimits patience;
  std::int32_t connections = 1;
  DataSize transfer_max = DataSize::bytes(1 << 30);
  DataSize memory_max = DataSize::bytes(1 << 30);
  std::function<void(LoadPlan&)> adjust_plan;
  std::shared_ptr<const Catalogue> catalogue;
  std::unique_ptr<Server> server;
  LoadPlan plan;
  RealClock clock;
  ReceivedChunks received;
  std::unique_ptr<SocketNetwork> network;
  std::unique_ptr<DecodeWorker> worker;

 private:
  std::shared_ptr<const Contents> contents_;
  ServerOptions server_options_;
  std::int64_t index_ = 0;
};

}  // namespace sluice
