#include "emu/server/server.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <thread>
#include <utility>  // before Boost 1.74's asio, which forgets it
#include <vector>

#include <boost/asio.hpp>

#include "emu/server/connection.h"

namespace sluice {
namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
namespace {

// A peer that is gone without a word is found so late at most, in seconds.
constexpr int kKeepAliveIdle = 10, kKeepAliveEvery = 5, kKeepAliveTries = 4;
constexpr unsigned kUserTimeoutMs = 30'000;
// After a failed accept (no descriptors left).
constexpr auto kAcceptPause = std::chrono::milliseconds{100};

template <typename Value>
void set_tcp_option(Tcp::socket& socket, int option, Value value) {
  // An option that this kernel lacks costs speed, nothing else.
  static_cast<void>(
      ::setsockopt(socket.native_handle(), IPPROTO_TCP, option, &value, sizeof value));
}

}  // namespace

struct Server::State {
  std::shared_ptr<const Contents> contents;
  ServerOptions options;
  std::string address;
  std::uint16_t port = 0;
  FaultSchedule faults;
  ServerTotals totals;
  // Behind what connections use: handlers that are left go with it.
  asio::io_context io;
  std::optional<Tcp::acceptor> acceptor;
  std::optional<asio::steady_timer> pause;
  std::vector<std::thread> threads;

  void accept() {
    acceptor->async_accept(asio::make_strand(io), [this](const auto& error, Tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) return accept_later();
      welcome(std::move(socket));
      accept();
    });
  }

  void accept_later() {
    pause->expires_after(kAcceptPause);
    pause->async_wait([this](const auto& error) {
      if (!error) accept();
    });
  }

  void welcome(Tcp::socket socket) {
    const auto nonce = random_bytes();
    const auto open = static_cast<std::size_t>(totals.open.load());
    if (!nonce || open >= options.limits.connections) {
      ++totals.refused;
      return;  // the socket closes
    }
    set_tcp_option(socket, TCP_NODELAY, 1);
    set_tcp_option(socket, TCP_NOTSENT_LOWAT, static_cast<unsigned>(options.unsent_limit.bytes()));
    set_tcp_option(socket, TCP_USER_TIMEOUT, kUserTimeoutMs);
    set_tcp_option(socket, TCP_KEEPIDLE, kKeepAliveIdle);
    set_tcp_option(socket, TCP_KEEPINTVL, kKeepAliveEvery);
    set_tcp_option(socket, TCP_KEEPCNT, kKeepAliveTries);
    boost::system::error_code ignored;
    socket.set_option(asio::socket_base::keep_alive(true), ignored);
    ++totals.connections;
    std::make_shared<Connection>(std::move(socket), contents, options.limits, options.key, *nonce,
                                 faults, totals)
        ->start();
  }
};

Status check_audience(const ListeningSocket& socket, const ServerOptions& options) {
  if (options.key || options.in_own_namespace || socket.is_loopback()) return {};
  return error_in(fmt::format("{}:{}", socket.address(), socket.port()),
                  "others may reach this address, and a cache tells the prompt that made it",
                  "listen on 127.0.0.1, or give both sides a key with --key FILE");
}

Server::Server(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Server>> Server::start(std::shared_ptr<const Contents> contents,
                                              ListeningSocket socket, ServerOptions options) {
  if (const Status allowed = check_audience(socket, options); !allowed) return allowed.error();
  if (!options.congestion.empty()) {
    if (const Status set = socket.use_congestion_control(options.congestion); !set)
      return set.error();
  }
  auto state = std::make_unique<State>();
  state->contents = std::move(contents);
  state->options = std::move(options);
  state->faults.set(state->options.faults);
  state->address = socket.address();
  state->port = socket.port();
  // Accepting and its pause on one strand: several threads never meet there.
  const auto strand = asio::make_strand(state->io);
  state->acceptor.emplace(strand, Tcp::v4(), socket.release());
  state->pause.emplace(strand);
  asio::post(strand, [raw = state.get()] { raw->accept(); });
  for (int i = 0; i < std::max(1, state->options.threads); ++i)
    state->threads.emplace_back([raw = state.get()] { raw->io.run(); });
  return std::unique_ptr<Server>(new Server(std::move(state)));
}

Server::~Server() {
  state_->io.stop();
  for (std::thread& thread : state_->threads) thread.join();
}

const std::string& Server::address() const {
  return state_->address;
}
std::uint16_t Server::port() const {
  return state_->port;
}

void Server::set_faults(FaultPlan plan) {
  state_->faults.set(std::move(plan));
}
std::int64_t Server::fault_hits() const {
  return state_->faults.hits();
}

ServerCounts Server::counts() const {
  const ServerTotals& totals = state_->totals;
  return {.connections = totals.connections,
          .connections_refused = totals.refused,
          .connections_open = totals.open,
          .requests = totals.requests,
          .protocol_errors = totals.protocol_errors,
          .bytes_sent = DataSize::bytes(totals.bytes_sent)};
}

}  // namespace sluice
