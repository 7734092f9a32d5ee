#include "tests/emu/soak_place.h"

#include <fmt/format.h>

#include <thread>

#include "emu/host/listeners.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;

constexpr DataRate kRate = DataRate::bits_per_sec(100'000'000);
constexpr Duration kDelay = 2ms;
// Little: or a small context has left the server before anything can happen to it.
constexpr std::int64_t kUnsentBytes = 32 << 10;

EmulatedLinkSpec link_spec(const std::optional<Outage>& outage) {
  EmulatedLinkSpec spec;
  spec.down.name = "down";
  spec.up.name = "up";
  for (LinkSpec* link : {&spec.down, &spec.up}) {
    link->capacity.name = "soak";
    link->capacity.end = TraceEnd::kHold;
    link->capacity.steps = {{Duration{}, kRate}};
    if (outage) link->capacity.steps.push_back({outage->after, DataRate::zero()});
    if (outage && outage->length)
      link->capacity.steps.push_back({outage->after + *outage->length, kRate});
    link->capacity.length = link->capacity.steps.back().start + 1s;
    link->delay = kDelay;
  }
  return spec;
}

PatienceLimits short_patience() {
  return {.stall_time = 100ms,
          .backoff_first = 5ms,
          .backoff_max = 40ms,
          .attempts = 10,
          .give_up_time = 300ms};
}

}  // namespace

Result<std::unique_ptr<SoakPlace>> SoakPlace::open(std::shared_ptr<const Contents> contents,
                                                   bool over_link) {
  auto place = std::make_unique<SoakPlace>();
  place->contents_ = std::move(contents);
  if (over_link) {
    const EmulatedLinkSpec spec = link_spec(std::nullopt);
    const auto emulator = choose_emulator("tun", spec);
    if (!emulator) return emulator.error();
    auto link = (*emulator)->open(spec);
    if (!link) return link.error();
    place->link_ = std::move(*link);
  }
  if (const Status started = place->start_server(); !started) return started.error();
  return place;
}

Result<ListeningSocket> SoakPlace::listen() const {
  if (!link_) return ListeningSocket::open("127.0.0.1", port_);
  std::optional<ListeningSocket> socket;
  const LinkEnd& end = link_->far_end();
  const Status made = end.space->run([&]() -> Status {
    auto opened = ListeningSocket::open(end.address, port_);
    if (!opened) return opened.error();
    socket = std::move(*opened);
    return {};
  });
  if (!made) return made.error();
  return std::move(*socket);
}

Status SoakPlace::start_server() {
  auto socket = listen();
  if (!socket) return socket.error();
  port_ = socket->port();
  auto started = Server::start(contents_, std::move(*socket),
                               {.in_own_namespace = link_ != nullptr,
                                .congestion = "cubic",
                                .unsent_limit = DataSize::bytes(kUnsentBytes)});
  if (!started) return started.error();
  server_ = std::move(*started);
  return {};
}

ServerPlace SoakPlace::for_clients() const {
  ServerPlace server{.port = port_};
  if (link_) {
    server.address = link_->far_end().address;
    server.space = link_->near_end().space;
  }
  return server;
}

Status SoakPlace::rearm(const std::optional<Outage>& outage) {
  return link_ ? link_->rearm(link_spec(outage)) : Status{};
}

Status ServerProcess::start(const std::string& fault) {
  if (port_ == 0) {
    const auto free = ListeningSocket::open("127.0.0.1", 0);
    if (!free) return free.error();
    port_ = free->port();
  }
  Command command;
  // What it says of itself is of no use here.
  command.words = {"/bin/sh",         "-c",       "exec \"$0\" \"$@\" >/dev/null 2>&1",
                   program_.string(), "serve",    "--contents",
                   folder_.string(),  "--listen", for_clients().name()};
  if (!fault.empty()) command.words.insert(command.words.end(), {"--fault", fault});
  command.foreground = false;
  auto started = ChildProcess::start(command);
  if (!started) return started.error();
  child_ = std::move(*started);
  for (const auto until = std::chrono::steady_clock::now() + 10s;
       !has_listener(nullptr, {port_});) {
    if (child_->poll() || std::chrono::steady_clock::now() > until)
      return error_in(program_.string(), "does not serve", "run it by hand");
    std::this_thread::sleep_for(1ms);
  }
  return {};
}

ServerPlace ServerProcess::for_clients() const {
  return {.port = port_};
}

SoakClient::SoakClient(ServerPlace server, std::shared_ptr<const Catalogue> of)
    : catalogue(std::move(of)),
      network(clock, received,
              {.server = std::move(server),
               .patience = short_patience(),
               .catalogue = catalogue,
               .connections_min = 1,
               .propagation = kDelay}),
      worker(clock, received, {.catalogue = catalogue}) {}

}  // namespace sluice
