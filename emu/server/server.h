// A server of encoded chunks over TCP, on threads of its own.
// Where in the flow: the far end of an emulated link; `emu serve` is one around it.
// Surprise: without a key it serves loopback, and other addresses only when told that they are in a
// namespace of ours: a cache tells the prompt that made it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "codec/container/seal.h"
#include "emu/contents/contents.h"
#include "emu/server/faults.h"
#include "emu/server/limits.h"
#include "emu/server/listening_socket.h"

namespace sluice {

struct ServerOptions {
  std::optional<SealKey> key;     // clients prove that they have it; all is sealed
  bool in_own_namespace = false;  // nobody but us reaches the address
  std::string congestion;         // "cubic", "bbr", …; empty: the kernel's default
  // Unsent bytes in the kernel's buffer of each connection: more hides a late server from a fast
  // link, less makes a cancel take effect sooner.
  DataSize unsent_limit = DataSize::bytes(256 << 10);
  int threads = 1;
  ServerLimits limits;
  FaultPlan faults;
};

struct ServerCounts {
  std::int64_t connections = 0;          // accepted so far
  std::int64_t connections_refused = 0;  // above the limit
  std::int64_t connections_open = 0;     // now
  std::int64_t requests = 0;
  std::int64_t protocol_errors = 0;
  DataSize bytes_sent;  // to the kernel, frames and all
};

// Whether what is served may be heard where the socket listens.
[[nodiscard]] Status check_audience(const ListeningSocket& socket, const ServerOptions& options);

class Server {
 public:
  // Errors: an address that needs a key, a congestion control that the kernel lacks.
  [[nodiscard]] static Result<std::unique_ptr<Server>> start(
      std::shared_ptr<const Contents> contents, ListeningSocket socket, ServerOptions options);
  // Ends every connection and the threads.
  ~Server();

  [[nodiscard]] const std::string& address() const;
  [[nodiscard]] std::uint16_t port() const;
  // From the next request on; requests count from 0 again.
  void set_faults(FaultPlan plan);
  [[nodiscard]] std::int64_t fault_hits() const;
  [[nodiscard]] ServerCounts counts() const;

 private:
  struct State;
  explicit Server(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sluice
