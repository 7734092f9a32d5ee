// What a load still has to do before its first token, and by when: the arithmetic of `anytime`.
#pragma once

#include <optional>

#include "policies/policy.h"

namespace sluice {

// Bytes of the transfer in flight that have not come.
[[nodiscard]] DataSize left_of(const ChunkView& chunk);

struct Outlook {
  Instant end_by;           // of the last decode or recompute
  Duration unqueued{};      // GPU time of this load that the session has not submitted yet
  Duration queued{};        // that it has
  bool recomputes = false;  // anything
  DataSize left_in_flight;  // of everything
  // Chunks of which no byte at any level is here and that nobody recomputes.
  std::int32_t num_missing = 0;
  DataSize missing_left;
  Duration missing_decode{};
  std::optional<Duration> missing_recompute = Duration::zero();  // absent: one of them cannot be

  // The last instant at which the next decode must begin has come.
  [[nodiscard]] bool is_due(const Observation& o) const {
    return o.now + o.gpu_wait + unqueued >= end_by;
  }
  // The GPU works for this load alone, and has something to do.
  [[nodiscard]] bool gpu_is_ours(const Observation& o) const {
    return queued > Duration::zero() && o.gpu_wait > Duration::zero() && o.gpu_wait <= queued;
  }
};

// Decodes count at the level that is here or coming, chunks without any at `base`. `margin` goes
// off the deadline, as does the first token.
[[nodiscard]] Outlook look_ahead(const Observation& o, std::int32_t base, Duration margin);

}  // namespace sluice
