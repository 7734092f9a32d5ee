#include "emu/client/received_chunks.h"

namespace sluice {

void ReceivedChunks::put(ConnectionGroup load, std::int32_t chunk, std::int32_t level,
                         ReceivedChunk received) {
  const std::scoped_lock lock(mutex_);
  chunks_.insert_or_assign(Key{load, chunk, level}, std::move(received));
}

std::optional<ReceivedChunk> ReceivedChunks::find(ConnectionGroup load, std::int32_t chunk,
                                                  std::int32_t level) const {
  const std::scoped_lock lock(mutex_);
  const auto found = chunks_.find(Key{load, chunk, level});
  if (found == chunks_.end()) return std::nullopt;
  return found->second;
}

void ReceivedChunks::forget(ConnectionGroup load, std::int32_t chunk, std::int32_t level) {
  const std::scoped_lock lock(mutex_);
  chunks_.erase(Key{load, chunk, level});
}

void ReceivedChunks::forget(ConnectionGroup load) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(chunks_, [load](const auto& entry) { return std::get<0>(entry.first) == load; });
}

}  // namespace sluice
