// Memory for encoded chunks that is used again, by later chunks, loads and workers: the first touch
// of fresh pages takes a client as long as all else that it does with the bytes.
// Where in the flow: SocketNetwork borrows, and gives back when the decoder is done with the chunk.
// Thread-safe.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/units.h"

namespace sluice {

// Memory that is not touched before bytes come.
class ChunkBuffer {
 public:
  explicit ChunkBuffer(std::size_t size)
      : bytes_(std::make_unique_for_overwrite<std::byte[]>(size)), size_(size), capacity_(size) {}
  [[nodiscard]] std::span<std::byte> span() { return {bytes_.get(), size_}; }
  [[nodiscard]] std::span<const std::byte> span() const { return {bytes_.get(), size_}; }

 private:
  friend class EncodedMemory;
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t size_, capacity_;
};

class EncodedMemory : public std::enable_shared_from_this<EncodedMemory> {
 public:
  // Keeps at most `spare_max` that nobody uses.
  [[nodiscard]] static std::shared_ptr<EncodedMemory> of(DataSize spare_max) {
    return std::shared_ptr<EncodedMemory>(new EncodedMemory(spare_max));
  }
  // Of `size` bytes, with whatever they held; comes back when its last owner lets go.
  [[nodiscard]] std::shared_ptr<ChunkBuffer> borrow(std::size_t size);

 private:
  explicit EncodedMemory(DataSize spare_max) : spare_max_(spare_max) {}
  void give_back(std::unique_ptr<ChunkBuffer> buffer);

  std::mutex mutex_;
  DataSize spare_max_, spare_size_;
  std::vector<std::unique_ptr<ChunkBuffer>> spare_;
};

}  // namespace sluice
