// What a session knows of one chunk. Private to sim/session.
#pragma once

#include <map>
#include <string>

#include "sim/session/session.h"

namespace sluice {

struct Session::ChunkState {
  std::int32_t index = 0;
  std::optional<std::int32_t> level;     // arrived or resident
  std::optional<std::int32_t> fetching;  // level of the transfer in flight
  std::optional<TransferId> transfer;
  DecodeWhen decode_when = DecodeWhen::kOnArrival;  // of the transfer in flight
  bool held = false;                  // bytes of `level` have arrived and wait to be decoded
  bool decoding = false;              // arrived bytes are queued or being decoded
  std::vector<GpuJobId> decode_jobs;  // one for each level that was or is decoded
  bool wants_recompute = false;       // asked for, waits for earlier chunks
  std::optional<GpuJobId> prefill;    // queued or running
  bool resident = false;
  DataSize encoded;    // encoded bytes held, those of the transfer in flight included
  DataSize in_flight;  // the share of the fetch in flight; meaningless without one
  std::optional<std::int32_t> decoded_level;  // that is resident; nullopt when recomputed
  std::int32_t failures = 0;                  // of transfers and decodes
  // By level; nullopt: of its text. A refusal counts as all that are allowed.
  std::map<std::optional<std::int32_t>, std::int32_t> failures_at;
  std::string last_failure;  // in words
  ChunkRecord record;

  [[nodiscard]] bool recomputing() const { return wants_recompute || prefill.has_value(); }
  [[nodiscard]] bool usable() const { return resident || decoding || held; }
  [[nodiscard]] ChunkPhase phase() const {
    if (resident) return ChunkPhase::kResident;
    if (decoding || held) return ChunkPhase::kArrived;
    return fetching || recomputing() ? ChunkPhase::kComing : ChunkPhase::kAbsent;
  }
};

}  // namespace sluice
