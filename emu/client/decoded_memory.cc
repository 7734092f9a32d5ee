#include "emu/client/decoded_memory.h"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

bool same_tensor(const std::optional<TensorShape>& a, const std::optional<TensorShape>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || (a->dtype == b->dtype && a->heads == b->heads && a->tokens == b->tokens &&
                a->dim == b->dim);
}

bool same_positions(const std::shared_ptr<const Positions>& a,
                    const std::shared_ptr<const Positions>& b) {
  return a == b || (a && b && *a == *b);
}

// Decoding fills in elements: all else is as the memory was made.
bool fits(const KvShape& a, const KvShape& b) {
  return std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(),
                    [](const auto& x, const auto& y) {
                      return x.layer == y.layer && x.first_token == y.first_token &&
                             same_positions(x.positions, y.positions) &&
                             same_tensor(x.key, y.key) && same_tensor(x.value, y.value) &&
                             same_tensor(x.latent, y.latent);
                    });
}

}  // namespace

Result<std::shared_ptr<KvCache>> DecodedMemory::borrow(const KvShape& shape, DataSize size) {
  Block block = take_spare(shape);
  if (!block.cache) {
    {
      const std::scoped_lock lock(mutex_);
      while (!spare_.empty() && held_ + size > limit_) {
        held_ -= spare_.back().size;
        spare_.pop_back();
      }
      if (held_ + size > limit_) {
        return error_in("",
                        fmt::format("decoded tensors of {} bytes do not fit beside {} of {}",
                                    size.bytes(), held_.bytes(), limit_.bytes()),
                        "allow more memory or load less at once");
      }
      held_ += size;
    }
    block = {std::make_unique<KvCache>(KvCache::allocate(shape)), size};
  }
  return std::shared_ptr<KvCache>(block.cache.release(), [memory = shared_from_this(),
                                                          counted = block.size](KvCache* returned) {
    memory->give_back({std::unique_ptr<KvCache>(returned), counted});
  });
}

DecodedMemory::Block DecodedMemory::take_spare(const KvShape& shape) {
  const std::scoped_lock lock(mutex_);
  const auto fitting = std::find_if(spare_.begin(), spare_.end(), [&](const Block& block) {
    return fits(shape_of(block.cache->view()), shape);
  });
  if (fitting == spare_.end()) return {};
  Block block = std::move(*fitting);
  spare_.erase(fitting);
  return block;
}

void DecodedMemory::give_back(Block block) {
  const std::scoped_lock lock(mutex_);
  spare_.push_back(std::move(block));
}

}  // namespace sluice
