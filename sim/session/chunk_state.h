// What a session knows of one chunk. Private to sim/session.
#pragma once

#include "sim/session/session.h"

namespace sluice {

struct Session::ChunkState {
  std::int32_t index = 0;
  std::optional<std::int32_t> level;          // arrived or resident
  std::optional<std::int32_t> decoded_level;  // resident by decoding
  std::optional<std::int32_t> fetching;       // level of the transfer in flight
  std::optional<TransferId> transfer;
  bool decoding = false;               // arrived bytes are queued or being decoded
  std::optional<GpuJobId> decode_job;  // the latest
  bool wants_recompute = false;        // asked for, waits for earlier chunks
  std::optional<GpuJobId> prefill;     // queued or running
  bool resident = false;
  DataSize encoded;  // encoded bytes held
  ChunkRecord record;

  [[nodiscard]] bool recomputing() const { return wants_recompute || prefill.has_value(); }
  [[nodiscard]] bool usable() const { return resident || decoding || recomputing(); }
  [[nodiscard]] ChunkPhase phase() const {
    if (resident) return ChunkPhase::kResident;
    if (decoding) return ChunkPhase::kArrived;
    return fetching || recomputing() ? ChunkPhase::kComing : ChunkPhase::kAbsent;
  }
};

}  // namespace sluice
