#include "sim/serving/prefix_cache.h"

#include <algorithm>

namespace sluice {

std::int64_t PrefixCache::use(std::span<const std::uint64_t> blocks) {
  const auto absent = std::find_if(blocks.begin(), blocks.end(),
                                   [&](std::uint64_t block) { return !place_.contains(block); });
  const std::int64_t num_found = absent - blocks.begin();
  const auto num_kept = std::min(
      blocks.size(), static_cast<std::size_t>(std::max<std::int64_t>(capacity_blocks_, 0)));
  for (std::size_t i = num_kept; i > 0; --i) touch(blocks[i - 1]);
  while (static_cast<std::int64_t>(order_.size()) > capacity_blocks_) {
    place_.erase(order_.back());
    order_.pop_back();
  }
  return num_found;
}

void PrefixCache::touch(std::uint64_t block) {
  const auto known = place_.find(block);
  if (known != place_.end()) {
    order_.splice(order_.begin(), order_, known->second);
    return;
  }
  order_.push_front(block);
  place_.emplace(block, order_.begin());
}

}  // namespace sluice
