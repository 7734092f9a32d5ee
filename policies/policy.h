// The policy contract: Observation in, Decision out. Values only: no clock, link, file or
// environment in reach.
// Where in the flow: step 4; the session asks whenever something it may act on has changed.
// Surprises:
// (1) a policy is asked again right after each of its decisions takes effect, until it waits;
// (2) only a policy registered as clairvoyant gets `foresight`;
// (3) levels are ordered from least to most damage;
// (4) once every chunk is resident and nothing is in flight, Wait means Start;
// (5) arrived bytes may be held undecoded, so that a layered chunk is decoded once, at the level
//     that it has reached, and not at every level on the way.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/units.h"

namespace sluice {

// One rung of the ladder, the same for all chunks of a context.
struct LevelInfo {
  std::string id;     // "cachegen-released@2"
  std::string codec;  // "cachegen-released"
  std::string level;  // "2"
  double damage = 0;  // 0 is lossless; the profile names the measure
  // Index of the level whose bytes this one begins with, for layered codecs; the chain ends at a
  // base.
  std::optional<std::int32_t> refines;
};

// One chunk at one level.
struct LevelCost {
  DataSize size;           // bytes to transfer when nothing of the chunk is here
  Duration decode_time{};  // on this device, alone
};

enum class ChunkPhase {
  kAbsent,    // nothing of it is here or coming
  kComing,    // a transfer is in flight, or a prefill is queued or running
  kArrived,   // encoded bytes are here, decode held, queued or running
  kResident,  // decoded or recomputed
};

struct ChunkView {
  std::int32_t index = 0;
  std::int64_t tokens = 0;
  ChunkPhase phase = ChunkPhase::kAbsent;  // the furthest that it has come
  // That has arrived or is resident; absent when recomputed or nothing came.
  std::optional<std::int32_t> level;
  std::optional<std::int32_t> fetching;  // level of the transfer in flight
  DataSize fetched;                      // of the transfer in flight
  bool held = false;                     // bytes of `level` are here and wait for Decode or Start
  bool recomputing = false;              // prefill queued or running, maybe beside a transfer
  std::span<const LevelCost> levels;     // one per LevelInfo
  // Prefill at its position, alone; absent: cannot be recomputed.
  std::optional<Duration> recompute_time;
  DataSize text_size;         // of the tokens, to send before a recompute; zero when they are here
  std::int32_t failures = 0;  // transfers and decodes of it that failed so far in this load
};

struct PastTransfer {
  std::int32_t chunk = 0;
  std::optional<std::int32_t> level;
  DataSize size;
  Duration time{};  // request to last byte
  Duration first_byte_time{};
  DataRate rate;  // size / time
};

// For clairvoyant policies only.
struct Foresight {
  // Capacity that the next fetch will meet: now, or of its chunk on a chunk-clocked link.
  DataRate next_chunk_rate;
};

struct Observation {
  Instant now;
  Instant arrived_at;
  Instant deadline;                    // arrival + SLO
  std::span<const LevelInfo> levels;   // least damage first
  std::span<const ChunkView> chunks;   // all chunks of the context, in order
  std::span<const PastTransfer> past;  // of this load, oldest first
  std::int32_t transfers_in_flight = 0;
  Duration round_trip{};
  Duration gpu_wait{};           // until a new GPU job would begin
  double gpu_busy_fraction = 0;  // since the load arrived
  Duration first_token_time{};   // the job after all chunks are resident, alone
  std::optional<Foresight> foresight;
};

// When what arrives is decoded. A decode takes the decode time of its level, whether the bytes came
// at once or in layers.
enum class DecodeWhen {
  kOnArrival,
  kWhenAsked,  // by Decode or Start
};

// Fetch a chunk at a level (an index into Observation::levels). With a level that refines the one
// that has arrived, by one step or by several, only the difference travels.
struct Fetch {
  std::int32_t chunk = 0;
  std::int32_t level = 0;
  std::int32_t connections = 1;
  DecodeWhen decode = DecodeWhen::kOnArrival;
};
// Of a chunk whose bytes are held, at the level that has arrived. What comes of it later needs
// another decode.
struct Decode {
  std::int32_t chunk = 0;
};
struct Recompute {
  std::int32_t chunk = 0;  // waits for all earlier chunks
};
struct Cancel {
  std::int32_t chunk = 0;  // its transfer in flight; what came of it is discarded
};
// Until something changes, or until an instant to come: a deadline is no event of its own.
struct Wait {
  std::optional<Instant> until = std::nullopt;
};
// First token from what has arrived; legal once every chunk is recomputed or has arrived. What is
// in flight is cancelled, what is held is decoded in the order of chunks.
struct Start {};

using Action = std::variant<Fetch, Decode, Recompute, Cancel, Wait, Start>;

struct [[nodiscard]] Decision {
  // Carried out in order; the session refuses an illegal one and fails the load.
  std::vector<Action> actions;
  std::string reason;  // stored with the chunk
};

// One instance per load; may remember what it saw within the load.
class Policy {
 public:
  virtual ~Policy() = default;
  virtual Decision decide(const Observation& observation) = 0;
};

}  // namespace sluice
