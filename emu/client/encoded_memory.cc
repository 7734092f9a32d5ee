#include "emu/client/encoded_memory.h"

#include <algorithm>

namespace sluice {
namespace {

DataSize size_of(std::size_t bytes) {
  return DataSize::bytes(static_cast<std::int64_t>(bytes));
}

}  // namespace

// The smallest spare one that is large enough.
std::shared_ptr<ChunkBuffer> EncodedMemory::borrow(std::size_t size) {
  std::unique_ptr<ChunkBuffer> buffer;
  {
    const std::scoped_lock lock(mutex_);
    auto best = spare_.end();
    for (auto spare = spare_.begin(); spare != spare_.end(); ++spare) {
      const std::size_t capacity = (*spare)->capacity_;
      if (capacity < size) continue;
      if (best == spare_.end() || capacity < (*best)->capacity_) best = spare;
    }
    if (best != spare_.end()) {
      buffer = std::move(*best);
      spare_.erase(best);
      spare_size_ -= size_of(buffer->capacity_);
    }
  }
  if (!buffer) buffer = std::make_unique<ChunkBuffer>(size);
  buffer->size_ = size;
  return {buffer.release(), [memory = shared_from_this()](ChunkBuffer* returned) {
            memory->give_back(std::unique_ptr<ChunkBuffer>(returned));
          }};
}

void EncodedMemory::give_back(std::unique_ptr<ChunkBuffer> buffer) {
  const std::scoped_lock lock(mutex_);
  spare_size_ += size_of(buffer->capacity_);
  spare_.push_back(std::move(buffer));
  while (spare_size_ > spare_max_) {
    spare_size_ -= size_of(spare_.front()->capacity_);
    spare_.erase(spare_.begin());
  }
}

}  // namespace sluice
