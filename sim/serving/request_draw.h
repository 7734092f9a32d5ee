// One request of a replicate before it has a place, and what all who draw such requests share.
// Where in the flow: made by workload_draws.h and chat_draws.h, placed by draws.cc.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/random.h"
#include "base/units.h"
#include "sim/scenario/workload_setting.h"

namespace sluice {

struct RequestDraw {
  std::int64_t context_tokens = 0;
  std::vector<std::uint64_t> blocks;     // of the prefix; empty without a prefix cache
  std::optional<std::uint64_t> session;  // turns of one session go to one GPU node
  // Since the first load's stamp in the trace; zero unless arrivals are the trace's.
  Duration arrival{};
  bool is_load = true;  // false: it fills the cache
};

// Uniform, both ends included.
inline std::int64_t draw_count(const TokenCountRange& range, RandomStream& random) {
  const auto width = static_cast<std::uint64_t>(range.high - range.low + 1);
  return range.low + static_cast<std::int64_t>(random.below(width));
}

// Gives out block ids that no other block has.
class BlockIds {
 public:
  void add_fresh(std::vector<std::uint64_t>& blocks, std::int64_t num_blocks) {
    for (; num_blocks > 0; --num_blocks) blocks.push_back(next_++);
  }

 private:
  std::uint64_t next_ = 0;
};

inline std::int64_t whole_blocks(std::int64_t tokens) {
  return tokens / kDrawnBlockTokens;
}
inline std::int64_t all_blocks(std::int64_t tokens) {
  return (tokens + kDrawnBlockTokens - 1) / kDrawnBlockTokens;
}

}  // namespace sluice
