// Sizes and decode times of chunks that exist, in the place of what the ladder predicts.
// Where in the flow: made from encoded contents (emu/run); the plan of a load takes them, in
// simulation and in emulation alike.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "policies/policy.h"

namespace sluice {

struct MeasuredChunks {
  std::string sha256;  // of what the numbers were measured on; part of what results depend on
  struct Chunk {
    std::int32_t stored_as = 0;     // what the server calls it
    std::vector<LevelCost> levels;  // one per level of the ladder
  };
  // By the chunk's index in its context and its tokens.
  std::map<std::pair<std::int32_t, std::int64_t>, Chunk> chunks;
};

}  // namespace sluice
