// The contract of a reducer: which tokens of a context a cache keeps. What is kept is coded by any
// codec.
// Where in the flow: in front of the container's encoder (`int8+h2o`), on the whole context before
// it is cut into chunks. codec/reducers/registry.cc lists all reducers; contract tests pick them
// up. Surprise: decoders never need one: the container says which positions were kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "codec/kv_cache.h"
#include "codec/token_importance.h"

namespace sluice {

struct ReducerLevelInfo {
  std::string name;               // unique in its reducer
  std::int64_t keep_percent = 0;  // of the tokens, 1 to 100, rounded up to whole tokens
};

struct ReducerInfo {
  std::string id;                        // kebab-case, never renamed
  std::string summary;                   // one line
  bool needs_attention = false;          // ReducerInput::importance
  std::vector<ReducerLevelInfo> levels;  // most tokens first, at least one
  std::size_t default_level = 0;         // index in `levels`
};

// Per layer of a cache, in its order: positions to keep, increasing.
using KeptTokens = std::vector<Positions>;

struct ReducerInput {
  const KvView& cache;  // the whole context
  std::int64_t keep_percent = 100;
  const TokenImportance* importance = nullptr;  // of this context; null: not known
};

struct Reducer {
  ReducerInfo info;
  // Same input, same tokens. Keeps positions that the layers hold, and of a cache with tokens
  // always the last position. Error: what it needs is not known.
  Result<KeptTokens> (*select)(const ReducerInput& input);
};

// The kept tokens of the cache, or of a chunk of it, in memory of their own; `kept` has an entry
// per layer, and what a layer does not hold is not kept.
[[nodiscard]] KvCache keep_tokens(const KvView& cache, const KeptTokens& kept);

}  // namespace sluice
