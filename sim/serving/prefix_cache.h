// The blocks of earlier contexts that a GPU node keeps, least recently used first out.
// Where in the flow: fed with all requests of a replicate in their order, before any policy acts.
// Surprise: of one request the first blocks stay longest, since the others are of no use without
// them.
#pragma once

#include <cstdint>
#include <list>
#include <span>
#include <unordered_map>

namespace sluice {

class PrefixCache {
 public:
  explicit PrefixCache(std::int64_t capacity_blocks) : capacity_blocks_(capacity_blocks) {}

  // How many of the leading blocks were here; all of them are from now on, as far as they fit.
  std::int64_t use(std::span<const std::uint64_t> blocks);

 private:
  void touch(std::uint64_t block);

  std::int64_t capacity_blocks_;
  std::list<std::uint64_t> order_;  // latest first
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> place_;
};

}  // namespace sluice
