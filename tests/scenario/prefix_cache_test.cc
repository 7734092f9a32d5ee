// The LRU cache of prefix blocks against a list that is searched from end to end.
#include "sim/serving/prefix_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace sluice {
namespace {

// The same rules, written down without thought for speed: latest first.
class PlainCache {
 public:
  explicit PlainCache(std::size_t capacity) : capacity_(capacity) {}
  std::int64_t use(const std::vector<std::uint64_t>& blocks) {
    std::size_t found = 0;
    while (found < blocks.size() && std::count(held_.begin(), held_.end(), blocks[found]) > 0)
      ++found;
    for (std::size_t i = std::min(blocks.size(), capacity_); i > 0; --i) {
      std::erase(held_, blocks[i - 1]);
      held_.insert(held_.begin(), blocks[i - 1]);
    }
    if (held_.size() > capacity_) held_.resize(capacity_);
    return static_cast<std::int64_t>(found);
  }

 private:
  std::size_t capacity_;
  std::vector<std::uint64_t> held_;
};

TEST(PrefixCache, AgreesWithAPlainListOnRandomRequests) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    RandomStream random(seed, "prefix-cache", 0);
    const std::uint64_t capacity = random.below(12);
    PrefixCache cache(static_cast<std::int64_t>(capacity));
    PlainCache plain(capacity);
    for (int request = 0; request < 100; ++request) {
      std::vector<std::uint64_t> blocks;
      for (std::uint64_t i = 0, n = random.below(8); i < n; ++i)
        blocks.push_back(random.below(4) + 4 * i);
      ASSERT_EQ(cache.use(blocks), plain.use(blocks)) << "seed " << seed << ", " << request;
    }
  }
}

}  // namespace
}  // namespace sluice
