// The half of the session that goes on after failures: what failed is absent again, the policy is
// asked again, and these bounds keep a policy that knows nothing of failures from asking for ever.
#include <fmt/format.h>

#include <algorithm>

#include "sim/session/chunk_state.h"

namespace sluice {
namespace {

constexpr std::int32_t kFailuresPerLevel = 2;  // then another level is taken
constexpr std::int32_t kFailuresBeforeRecompute = 4;
constexpr std::int32_t kFailuresMax = 6;  // of one chunk; then the load has failed

const char* words_of(TransferFailure why) {
  switch (why) {
    case TransferFailure::kNoRoute:
      return "there is no route";
    case TransferFailure::kNoChunkIndex:
      return "a chunk-clocked link needs a chunk index";
    case TransferFailure::kLinkDown:
      return "the link went down";
    case TransferFailure::kStalled:
      return "nothing came for too long";
    case TransferFailure::kCorrupt:
      return "what came is not what was sent";
    case TransferFailure::kRefused:
      return "the server refused it";
  }
  return "unknown";
}

}  // namespace

void Session::on_failure(TransferId id, TransferFailure why) {
  ChunkState& chunk = chunk_of(id);
  const DataSize came = network_.delivered(id);
  --num_transfers_;
  if (why == TransferFailure::kNoRoute || why == TransferFailure::kNoChunkIndex) {
    chunk.transfer.reset();
    return fail(fmt::format("the transfer of chunk {} failed: {}", chunk.index, words_of(why)));
  }
  const std::optional<std::int32_t> level = chunk.fetching;
  count_what_came(chunk, came);
  note_failure(chunk, level, why == TransferFailure::kRefused, words_of(why));
}

// The encoded bytes are worthless, and with them a refinement of them that comes or waits.
void Session::on_decode_failed(ChunkState& chunk, std::int32_t level, const std::string& why) {
  if (chunk.fetching) drop_transfer(chunk);
  cancel_decoding(chunk);
  chunk.level = chunk.decoded_level;
  release_encoded(chunk);
  if (!chunk.resident) {
    started_ = false;  // the policy had said start with this chunk in mind
    chunk.record.level.clear();
    chunk.record.damage = 0;
    chunk.record.compute_began_at.reset();
  }
  note_failure(chunk, level, false, "it could not be decoded: " + why);
}

void Session::note_failure(ChunkState& chunk, std::optional<std::int32_t> level, bool for_good,
                           std::string words) {
  ++chunk.failures;
  std::int32_t& here = chunk.failures_at[level];
  here = for_good ? kFailuresPerLevel : here + 1;
  chunk.last_failure = std::move(words);
  const bool is_coming_otherwise = chunk.usable() || chunk.recomputing();
  if (is_coming_otherwise) return consult();
  if (chunk.failures >= kFailuresMax) {
    return fail(fmt::format("chunk {} failed {} times, last: {}", chunk.index, chunk.failures,
                            chunk.last_failure));
  }
  const ChunkPlan& plan = plan_.chunks[static_cast<std::size_t>(chunk.index)];
  if (chunk.failures >= kFailuresBeforeRecompute && plan.recompute_time && text_may_come(chunk)) {
    start_recompute(chunk, reason_after_failures(chunk, "the session recomputes it"));
  }
  consult();
}

bool Session::text_may_come(const ChunkState& chunk) const {
  const auto failed = chunk.failures_at.find(std::nullopt);
  return failed == chunk.failures_at.end() || failed->second < kFailuresPerLevel;
}

// What the session fetches when the policy wants this level: itself; after too many failures the
// next cheaper one, else the next dearer one, that did not fail so often. Where all did: the wanted
// one once more, and nothing when the chunk is here or being recomputed.
std::optional<std::int32_t> Session::level_to_try(const ChunkState& chunk,
                                                  std::int32_t wanted) const {
  const auto allows = [&](std::int32_t level) {
    const auto failed = chunk.failures_at.find(level);
    return failed == chunk.failures_at.end() || failed->second < kFailuresPerLevel;
  };
  if (allows(wanted)) return wanted;
  if (chunk.level) return std::nullopt;  // a refinement has no substitute
  const auto num_levels = static_cast<std::int32_t>(plan_.levels.size());
  for (std::int32_t level = wanted + 1; level < num_levels; ++level) {
    if (allows(level)) return level;
  }
  for (std::int32_t level = wanted - 1; level >= 0; --level) {
    if (allows(level)) return level;
  }
  if (chunk.resident || chunk.recomputing()) return std::nullopt;
  return wanted;
}

std::string Session::reason_after_failures(const ChunkState& chunk,
                                           const std::string& reason) const {
  if (chunk.failures == 0) return reason;
  return fmt::format("{} [after {} failure{}, last: {}]", reason, chunk.failures,
                     chunk.failures == 1 ? "" : "s", chunk.last_failure);
}

}  // namespace sluice
