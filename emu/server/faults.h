// Faults that a server commits on purpose, for experiments on what clients make of them.
// Where in the flow: `emu serve --fault`, and soaks that set them while a server runs.
// Surprise: requests for chunks and texts are counted over all connections, from 0, since the plan
// was set; a catalogue is never spoiled.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace sluice {

enum class FaultKind {
  kStall,         // the disk: nothing of the reply for `delay`, once `after` bytes are out
  kCorruptDisk,   // byte `after` of the reply is flipped as if stored so: frames are sound, hashes
                  // not
  kCorruptFrame,  // a byte of the frame with byte `after` is flipped behind its checksum
  kReset,         // the connection is reset (RST) once `after` bytes of the reply are out
  kHalfOpen,      // once `after` bytes are out, nothing is sent or read, until idle_time closes it
  kRefuse,        // Fail, "refused"
};

struct ServerFault {
  FaultKind kind = FaultKind::kRefuse;
  std::int64_t request = 0;                  // the first that is hit
  std::int64_t times = 1;                    // how many are hit; 0: without end
  std::int64_t every = 1;                    // every nth from the first on
  DataSize after;                            // bytes of the reply
  Duration delay = std::chrono::seconds{1};  // of a stall
};

// The first that hits a request counts.
using FaultPlan = std::vector<ServerFault>;

// "stall:request=3,times=1,every=1,after=100kB,delay=2s"; kinds: stall, corrupt-disk,
// corrupt-frame, reset, half-open, refuse.
[[nodiscard]] Result<ServerFault> parse_fault(std::string_view text);

// The plan, and how many requests came; connections on several threads ask it.
class FaultSchedule {
 public:
  // Counts from 0 again.
  void set(FaultPlan plan);
  // For the next request, in the order in which they come.
  [[nodiscard]] std::optional<ServerFault> next_request();
  // Faults that hit a request so far.
  [[nodiscard]] std::int64_t hits() const;

 private:
  mutable std::mutex mutex_;
  FaultPlan plan_;
  std::int64_t requests_ = 0;
  std::int64_t hits_ = 0;
};

}  // namespace sluice
