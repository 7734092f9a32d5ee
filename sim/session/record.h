// What one load and its chunks did: the rows that scoring and the store work on.
// Where in the flow: made by the session (3), scored (6) and stored (7). Plain values, integers of
// ns and bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace sluice {

// How a chunk became resident. kReused: it was when the load arrived, left by an earlier one.
enum class ChunkAction { kFetched, kRecomputed, kReused, kNone };

// What stands in the place of a level for a reused chunk, and of a policy's words.
inline constexpr const char* kReusedLevel = "reused";
inline constexpr const char* kReusedReason = "was resident when the load arrived";

struct ChunkRecord {
  std::int32_t index = 0;
  std::int64_t tokens = 0;
  ChunkAction action = ChunkAction::kNone;
  // Level id ("cachegen-released@2"); empty when recomputed, kReusedLevel when reused.
  std::string level;
  DataSize bytes;  // that travelled for it, cancelled attempts included
  double damage = 0;
  // The policy's words; after a failure also what failed last, how often, and what the session did
  // in the place of what the policy asked for.
  std::string reason;
  std::optional<Instant> requested_at, first_byte_at, arrived_at;  // transfer
  std::optional<Instant> compute_began_at, resident_at;            // decode or prefill
};

enum class LoadOutcome { kCompleted, kFailed, kUnfinished };

struct LoadRecord {
  std::int64_t index = 0;  // within its run
  Instant arrived_at;
  Duration slo{};
  std::int64_t context_tokens = 0;
  LoadOutcome outcome = LoadOutcome::kUnfinished;
  std::string failure;                    // why, when it failed
  std::optional<Instant> kv_ready_at;     // all chunks resident
  std::optional<Instant> first_token_at;  // TTFT = first_token_at - arrived_at
  DataSize bytes_moved;                   // payload over the network, cancelled transfers included
  std::int64_t recomputed_tokens = 0;
  double quality = 0;    // token-weighted mean of 1 - damage, by the profile's measure
  DataSize peak_memory;  // encoded plus decoded bytes held at once, the largest
  std::vector<ChunkRecord> chunks;

  [[nodiscard]] std::optional<Duration> ttft() const {
    if (!first_token_at) return std::nullopt;
    return *first_token_at - arrived_at;
  }
  // Unfinished or failed counts as violated.
  [[nodiscard]] bool violated() const {
    const auto time = ttft();
    return outcome != LoadOutcome::kCompleted || !time || *time > slo;
  }
};

// How well the host kept up with an emulated run. Times are late against what was scheduled.
struct HostHealth {
  std::string emulator;                                           // "tun", "kernel", "process"
  Duration link_late_p50{}, link_late_p99{}, link_late_max{};     // packets that left the link
  Duration timer_late_p50{}, timer_late_p99{}, timer_late_max{};  // callbacks of the clock
  double cpu_busy = 0;        // share of all cores, of whatever ran
  double cpu_stolen = 0;      // share of all cores that other machines of the host had
  double achieved_share = 1;  // of what the link's schedule could have let through
  DataSize wire_dropped;      // by queue and loss, there and back
  std::string doubts;         // why the run says nothing of the policy, one line each; empty: valid
  [[nodiscard]] bool is_valid() const { return doubts.empty(); }
  bool operator==(const HostHealth&) const = default;
};

// One run: one scenario, one policy, one replicate, one tier.
struct RunMetrics {
  Duration simulated_time{};
  Duration gpu_busy_time{};      // of all GPUs
  double gpu_busy_fraction = 0;  // of simulated_time and the number of GPUs
  double link_utilisation = 0;   // wire bytes / capacity of the links of the main kind
  DataSize bytes_moved;
  DataSize stored_per_context;       // all versions of one context kept by the source
  std::optional<HostHealth> health;  // of an emulated run
};

}  // namespace sluice
