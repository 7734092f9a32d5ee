// A TCP socket that listens, and who may be served from it.
// Where in the flow: made where the server shall be seen (inside a namespace's run(), or as it is),
// then given to Server.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace sluice {

class ListeningSocket {
 public:
  // IPv4, dotted; port 0: any free one. Errors: no such address here, or the port is taken.
  [[nodiscard]] static Result<ListeningSocket> open(const std::string& address, std::uint16_t port);
  ListeningSocket(ListeningSocket&& other) noexcept;
  ListeningSocket& operator=(ListeningSocket&& other) noexcept;
  ~ListeningSocket();

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] bool is_loopback() const;
  // "cubic", "bbr", …; connections take it over. Error: the kernel has no such one.
  [[nodiscard]] Status use_congestion_control(const std::string& name) const;
  // The descriptor, now the caller's.
  [[nodiscard]] int release();

 private:
  ListeningSocket() = default;
  int descriptor_ = -1;
  std::string address_;
  std::uint16_t port_ = 0;
};

}  // namespace sluice
