// The link contract of emulation: two ends, each a network namespace with an address, and between
// them something that carries IP packets at the rate of a trace.
// Where in the flow: step 2'; the server sits at the far end, the client at the near one.
// Surprises: a direction is described by the same LinkSpec as in simulation (its nodes are not
// looked at); the schedule of both directions begins with the first packet after open() or rearm().
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "emu/host/namespace.h"
#include "sim/net/network.h"

namespace sluice {

// Of `down` (far to near, where the data flows) and `up` (near to far).
struct EmulatedLinkSpec {
  LinkSpec down, up;
  std::uint64_t seed = 0;  // of loss and jitter
};

// One side of the link. Sockets are made inside its namespace (NetworkNamespace::run).
struct LinkEnd {
  const NetworkNamespace* space = nullptr;  // null where there are no namespaces
  std::string address;                      // IPv4, dotted
};

// How well the emulator kept up since the last rearm(); of both directions together.
struct LinkHealth {
  std::int64_t num_packets = 0;                             // segments that the link scheduled
  Duration lateness_p50{}, lateness_p99{}, lateness_max{};  // release after the scheduled instant
  // Of the wire bytes that left, those that did so no more than 1 ms after their instant; of the
  // kernel's shaper, the changes of the rate that did.
  double achieved_share = 1;
  std::int64_t num_host_drops = 0;  // packets that the host lost on their way into the link
};

class EmulatedLink {
 public:
  virtual ~EmulatedLink() = default;
  [[nodiscard]] virtual const LinkEnd& near_end() const = 0;
  [[nodiscard]] virtual const LinkEnd& far_end() const = 0;
  // The port of far_end().address at which clients reach a server that listens on `port` at the far
  // end; where there are no namespaces, such a server listens on 127.0.0.1.
  [[nodiscard]] virtual Result<std::uint16_t> relay_to(std::uint16_t port) { return port; }
  // Forgets what is queued; new capacities, delays, losses; the schedule waits for the next packet.
  [[nodiscard]] virtual Status rearm(const EmulatedLinkSpec& spec) = 0;
  // When the schedule began, on std::chrono::steady_clock's axis; nullopt before the first packet.
  [[nodiscard]] virtual std::optional<std::chrono::steady_clock::time_point> began_at() const = 0;
  [[nodiscard]] virtual LinkUsage usage_down() const = 0;
  [[nodiscard]] virtual LinkUsage usage_up() const = 0;
  [[nodiscard]] virtual LinkHealth health() const = 0;
};

// One way to emulate a link.
struct LinkEmulator {
  const char* id;       // "tun", "kernel", "process"
  const char* summary;  // one line, for --list
  bool needs_namespaces;
  // What of the spec it cannot do, or why this host cannot run it.
  Status (*check)(const EmulatedLinkSpec& spec);
  Result<std::unique_ptr<EmulatedLink>> (*open)(const EmulatedLinkSpec& spec);
};

// The table of emulators (emulators.cc), the best first.
[[nodiscard]] const std::vector<LinkEmulator>& link_emulators();
// By id; "auto": the first that this host and the spec allow. The error says what each lacks.
[[nodiscard]] Result<const LinkEmulator*> choose_emulator(const std::string& id,
                                                          const EmulatedLinkSpec& spec);

}  // namespace sluice
