#include "emu/server/listening_socket.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace sluice {
namespace {

constexpr int kBacklog = 128;
constexpr std::uint32_t kLoopbackNet = 127;  // 127.0.0.0/8

}  // namespace

ListeningSocket::ListeningSocket(ListeningSocket&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      address_(std::move(other.address_)),
      port_(other.port_) {}

ListeningSocket& ListeningSocket::operator=(ListeningSocket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(address_, other.address_);
  std::swap(port_, other.port_);
  return *this;
}

ListeningSocket::~ListeningSocket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<ListeningSocket> ListeningSocket::open(const std::string& address, std::uint16_t port) {
  const std::string name = fmt::format("{}:{}", address, port);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(port);
  if (::inet_pton(AF_INET, address.c_str(), &place.sin_addr) != 1)
    return error_in(name, "is no IPv4 address", "write it as 127.0.0.1:PORT");
  ListeningSocket made;
  made.descriptor_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  socklen_t size = sizeof place;
  auto* const raw = reinterpret_cast<sockaddr*>(&place);
  const bool done =
      made.descriptor_ >= 0 &&
      ::setsockopt(made.descriptor_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
      ::bind(made.descriptor_, raw, sizeof place) == 0 &&
      ::listen(made.descriptor_, kBacklog) == 0 && ::getsockname(made.descriptor_, raw, &size) == 0;
  if (!done)
    return error_in(name, fmt::format("cannot listen there: {}", std::strerror(errno)),
                    "name an address of this machine and a free port, or port 0");
  made.address_ = address;
  made.port_ = ntohs(place.sin_port);
  return made;
}

bool ListeningSocket::is_loopback() const {
  in_addr parsed{};
  return ::inet_pton(AF_INET, address_.c_str(), &parsed) == 1 &&
         ntohl(parsed.s_addr) >> 24 == kLoopbackNet;
}

Status ListeningSocket::use_congestion_control(const std::string& name) const {
  if (::setsockopt(descriptor_, IPPROTO_TCP, TCP_CONGESTION, name.data(),
                   static_cast<socklen_t>(name.size())) == 0)
    return {};
  return error_in("--congestion",
                  fmt::format("the kernel has no `{}`: {}", name, std::strerror(errno)),
                  "see /proc/sys/net/ipv4/tcp_available_congestion_control");
}

int ListeningSocket::release() {
  return std::exchange(descriptor_, -1);
}

}  // namespace sluice
