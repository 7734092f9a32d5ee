#include "policies/outlook.h"

#include <algorithm>

namespace sluice {
namespace {

void add_missing(const ChunkView& chunk, std::int32_t base, Outlook& outlook) {
  const Duration decode = chunk.levels[static_cast<std::size_t>(base)].decode_time;
  ++outlook.num_missing;
  outlook.missing_left += left_of(chunk);
  outlook.missing_decode += decode;
  outlook.unqueued += decode;
  if (outlook.missing_recompute && chunk.recompute_time) {
    *outlook.missing_recompute += *chunk.recompute_time;
  } else {
    outlook.missing_recompute.reset();
  }
}

void add_chunk(const ChunkView& chunk, bool earlier_resident, std::int32_t base, Outlook& outlook) {
  const auto decode_time = [&](std::int32_t level) {
    return chunk.levels[static_cast<std::size_t>(level)].decode_time;
  };
  outlook.left_in_flight += left_of(chunk);
  if (chunk.phase == ChunkPhase::kResident) return;
  if (chunk.recomputing) {
    // It waits for earlier chunks and for its text before the session submits it.
    const bool is_queued = earlier_resident && chunk.text_size == DataSize::zero();
    (is_queued ? outlook.queued : outlook.unqueued) += chunk.recompute_time.value_or(Duration{});
    outlook.recomputes = true;
  } else if (chunk.held) {
    outlook.unqueued += decode_time(chunk.fetching.value_or(chunk.level.value_or(base)));
  } else if (chunk.phase == ChunkPhase::kArrived) {
    outlook.queued += decode_time(chunk.level.value_or(base));
  } else {
    add_missing(chunk, base, outlook);
  }
}

}  // namespace

DataSize left_of(const ChunkView& chunk) {
  if (!chunk.fetching) return DataSize::zero();
  const auto size_of = [&](std::int32_t level) {
    return chunk.levels[static_cast<std::size_t>(level)].size;
  };
  const DataSize here = chunk.level ? size_of(*chunk.level) : DataSize::zero();
  return std::max(DataSize::zero(), size_of(*chunk.fetching) - here - chunk.fetched);
}

Outlook look_ahead(const Observation& o, std::int32_t base, Duration margin) {
  Outlook outlook{.end_by = o.deadline - o.first_token_time - margin};
  bool earlier_resident = true;
  for (const ChunkView& chunk : o.chunks) {
    add_chunk(chunk, earlier_resident, base, outlook);
    earlier_resident &= chunk.phase == ChunkPhase::kResident;
  }
  return outlook;
}

}  // namespace sluice
