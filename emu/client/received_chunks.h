// Encoded bytes that have arrived, from the network to the decoder.
// Where in the flow: SocketNetwork puts them in, DecodeWorker takes them out, on different threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>

#include "sim/net/network.h"

namespace sluice {

// Memory that is not touched before bytes come.
class ChunkBuffer {
 public:
  explicit ChunkBuffer(std::size_t size)
      : bytes_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size) {}
  [[nodiscard]] std::span<std::byte> span() { return {bytes_.get(), size_}; }
  [[nodiscard]] std::span<const std::byte> span() const { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_;
};

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
