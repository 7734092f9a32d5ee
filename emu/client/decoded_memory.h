// Memory for decoded chunks that is used again, by later loads and later workers: touching fresh
// pages takes longer than decoding into them, and an engine keeps its blocks too.
// Thread-safe.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "codec/kv_cache.h"

namespace sluice {

class DecodedMemory : public std::enable_shared_from_this<DecodedMemory> {
 public:
  // Holds at most `limit`, lent and spare together.
  [[nodiscard]] static std::shared_ptr<DecodedMemory> of(DataSize limit) {
    return std::shared_ptr<DecodedMemory>(new DecodedMemory(limit));
  }
  // For tensors of these shapes, of `size` bytes; comes back when its last owner lets go. Spare
  // memory of other shapes makes room first. Error: the limit.
  [[nodiscard]] Result<std::shared_ptr<KvCache>> borrow(const KvShape& shape, DataSize size);

 private:
  struct Block {
    std::unique_ptr<KvCache> cache;
    DataSize size;
  };
  explicit DecodedMemory(DataSize limit) : limit_(limit) {}
  // Without a cache where none fits.
  [[nodiscard]] Block take_spare(const KvShape& shape);
  void give_back(Block block);

  std::mutex mutex_;
  DataSize limit_, held_;
  std::vector<Block> spare_;
};

}  // namespace sluice
