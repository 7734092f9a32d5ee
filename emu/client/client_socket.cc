#include "emu/client/client_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/tcp.h>  // tcp_info with tcpi_min_rtt, which <netinet/tcp.h> lacks
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace sluice {
namespace {

Result<Descriptor> make_here(const ServerPlace& server) {
  Descriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!socket) {
    return error_in(server.name(), fmt::format("no socket: {}", std::strerror(errno)),
                    "close other programs");
  }
  const int on = 1;
  static_cast<void>(::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
  if (server.receive_window) {
    // The kernel doubles what it is told, for its own books. Past the host's limit only root goes.
    const int bytes = static_cast<int>(
        std::min<std::int64_t>(server.receive_window->bytes(), std::int64_t{256} << 20));
    if (::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes) != 0)
      static_cast<void>(::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes));
  }
  const std::string& control = server.congestion;
  if (!control.empty() && ::setsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, control.c_str(),
                                       static_cast<socklen_t>(control.size())) != 0) {
    return error_in(server.name(), fmt::format("no congestion control {}", control),
                    "take one of /proc/sys/net/ipv4/tcp_available_congestion_control");
  }
  return socket;
}

}  // namespace

Result<Descriptor> make_client_socket(const ServerPlace& server) {
  if (!server.space) return make_here(server);
  Descriptor made;
  const Status done = server.space->run([&]() -> Status {
    Result<Descriptor> socket = make_here(server);
    if (!socket) return socket.error();
    made = std::move(*socket);
    return {};
  });
  if (!done) return done.error();
  return made;
}

std::optional<Duration> min_round_trip(int socket) {
  tcp_info info{};
  socklen_t size = sizeof info;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  if (info.tcpi_min_rtt == 0 || info.tcpi_min_rtt == kNone) return std::nullopt;
  return std::chrono::microseconds{info.tcpi_min_rtt};
}

Result<ServerPlace> parse_server_place(const std::string& text) {
  const auto bad = [&] {
    return error_in("--server", fmt::format("\"{}\" is no ADDRESS:PORT", text),
                    "write it like 127.0.0.1:7311");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return bad();
  ServerPlace place;
  place.address = text.substr(0, colon);
  in_addr address{};
  if (::inet_pton(AF_INET, place.address.c_str(), &address) != 1) return bad();
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + colon + 1, end, place.port);
  if (read.ec != std::errc() || read.ptr != end || place.port == 0) return bad();
  return place;
}

}  // namespace sluice
