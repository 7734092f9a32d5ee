// A view of a KV cache to the bytes of a .kvb container.
// Where in the flow: cuts the cache into sections, has the codec encode each, and lays them out
// behind the header.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "base/result.h"
#include "codec/container/seal.h"
#include "codec/registry.h"
#include "codec/token_importance.h"

namespace sluice {

struct EncodeOptions {
  std::size_t layers_per_section = 8;  // > 0; fewer: earlier use of what has arrived, more bytes
  Backend backend = best_backend();    // the bytes do not depend on it
  int threads = 1;                     // > 0; sections are coded side by side, to the same bytes
  const SealKey* seal_key = nullptr;   // seals the file
  // In place of a random one, for tests: two files of one key must never share a salt.
  std::optional<Bytes32> seal_salt;
  const TokenImportance* importance = nullptr;  // null: not known
  // Where the level has a reducer: what it keeps of the whole context, of which the cache is a part
  // with the same layers; null: it is asked for this cache alone.
  const KeptTokens* kept_tokens = nullptr;
  // Of a level with refinements: leaves out those that do least for their bytes until the file is
  // no larger. An Error when its bases alone are.
  std::optional<DataSize> max_size;
  const ModelProfile* model_profile = nullptr;  // that decoders hold as well; null: none
};

// What the level's reducer keeps of a context. The error has no file.
[[nodiscard]] Result<KeptTokens> kept_tokens_of(const KvView& cache, CodecLevel codec_level,
                                                const TokenImportance* importance);

// The error has no file: the caller adds the source's name.
[[nodiscard]] Result<std::vector<std::byte>> encode_container(const KvView& cache,
                                                              CodecLevel codec_level,
                                                              const EncodeOptions& options = {});

}  // namespace sluice
