// Link, server and client of a soak: what is made anew for every few loads.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "emu/client/decode_worker.h"
#include "emu/client/socket_network.h"
#include "emu/host/child_process.h"
#include "emu/link/emulated_link.h"
#include "emu/server/server.h"

namespace sluice {

// Time without any capacity, from the link's first packet on.
struct Outage {
  Duration after{};
  std::optional<Duration> length;  // absent: for ever
};

// A server in this process, at the far end of a link or on loopback.
class SoakPlace {
 public:
  [[nodiscard]] static Result<std::unique_ptr<SoakPlace>> open(
      std::shared_ptr<const Contents> contents, bool over_link);

  [[nodiscard]] Status start_server();  // on the same port as before
  void end_server() { server_.reset(); }
  [[nodiscard]] Server* server() { return server_.get(); }
  [[nodiscard]] ServerPlace for_clients() const;
  // Null on loopback.
  [[nodiscard]] EmulatedLink* link() { return link_.get(); }
  [[nodiscard]] Status rearm(const std::optional<Outage>& outage);

 private:
  [[nodiscard]] Result<ListeningSocket> listen() const;

  std::shared_ptr<const Contents> contents_;
  std::unique_ptr<EmulatedLink> link_;
  std::unique_ptr<Server> server_;
  std::uint16_t port_ = 0;
};

// `sluice-emu serve` of a folder, on a loopback port of its own.
class ServerProcess {
 public:
  ServerProcess(std::filesystem::path program, std::filesystem::path folder)
      : program_(std::move(program)), folder_(std::move(folder)) {}
  // Waits until it listens. `fault` as of --fault; empty: none.
  [[nodiscard]] Status start(const std::string& fault);
  void kill() { child_.reset(); }
  [[nodiscard]] bool is_running() const { return child_.has_value(); }
  [[nodiscard]] ServerPlace for_clients() const;

 private:
  std::filesystem::path program_, folder_;
  std::optional<ChildProcess> child_;
  std::uint16_t port_ = 0;
};

// Clock, network and decoder; loads run one after the other.
struct SoakClient {
  SoakClient(ServerPlace server, std::shared_ptr<const Catalogue> of);

  std::shared_ptr<const Catalogue> catalogue;
  RealClock clock;
  ReceivedChunks received;
  SocketNetwork network;
  DecodeWorker worker;
  std::int64_t num_loads = 0;
};

}  // namespace sluice
