// TCP sockets of a client: made where they shall be seen, and what the kernel knows of them.
// Where in the flow: under client_connection.h. Options that a kernel lacks cost speed, nothing
// else, except the congestion control, which is an Error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/units.h"
#include "codec/container/seal.h"
#include "emu/host/descriptor.h"
#include "emu/host/namespace.h"

namespace sluice {

// Where a server is, and how to reach it.
struct ServerPlace {
  std::string address = "127.0.0.1";  // IPv4, dotted
  std::uint16_t port = 0;
  std::optional<SealKey> key;               // shared with the server; absent: it asks for none
  const NetworkNamespace* space = nullptr;  // of the client's sockets; null: this process's own
  std::string congestion;                   // "cubic", "bbr", …; empty: the kernel's default
  // Of each connection, from its beginning; absent: the kernel's tuning, whose windows follow a
  // rate that rises only over many round trips.
  std::optional<DataSize> receive_window;

  [[nodiscard]] std::string name() const { return address + ":" + std::to_string(port); }
};

// Not connected, without blocking, TCP_NODELAY; the kernel sizes its buffers.
[[nodiscard]] Result<Descriptor> make_client_socket(const ServerPlace& server);

// The shortest round trip that the kernel saw on this connection (TCP_INFO); nullopt before one.
[[nodiscard]] std::optional<Duration> min_round_trip(int socket);

// "ADDRESS:PORT". The error names the option --server.
[[nodiscard]] Result<ServerPlace> parse_server_place(const std::string& text);

}  // namespace sluice
