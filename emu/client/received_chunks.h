// Encoded bytes that have arrived, from the network to the decoder.
// Where in the flow: SocketNetwork puts them in, DecodeWorker takes them out, on different threads.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <tuple>

#include "emu/client/encoded_memory.h"
#include "sim/net/network.h"

namespace sluice {

// A whole container, or with `beyond` its header and the sections that this level lacks.
struct ReceivedChunk {
  std::shared_ptr<const ChunkBuffer> bytes;
  std::optional<std::int32_t> beyond;
};

class ReceivedChunks {
 public:
  // Takes the place of an earlier one of that level.
  void put(ConnectionGroup load, std::int32_t chunk, std::int32_t level, ReceivedChunk received);
  [[nodiscard]] std::optional<ReceivedChunk> find(ConnectionGroup load, std::int32_t chunk,
                                                  std::int32_t level) const;
  void forget(ConnectionGroup load, std::int32_t chunk, std::int32_t level);
  void forget(ConnectionGroup load);

 private:
  using Key = std::tuple<ConnectionGroup, std::int32_t, std::int32_t>;
  mutable std::mutex mutex_;
  std::map<Key, ReceivedChunk> chunks_;
};

}  // namespace sluice
