// What `codec bench` codes: a KV cache of the shape of Mistral-7B, made from seeded random numbers.
// Where in the flow: codec_speed.cc; a capture can take its place.
// Surprise: the numbers are made, but speed and bits of entropy-coded rungs depend on how they are
// spread, so channels have the means and scales that keys and values of real models have.
#pragma once

#include <cstdint>

#include "codec/kv_cache.h"

namespace sluice::bench {

inline constexpr std::int64_t kModelLayers = 32;

// fp16, [layer, key|value, head, token, dim] = 32 x 2 x 8 x tokens x 128 up to 256 tokens; beyond,
// as many layers, spread over the 32, as hold no more elements than that.
[[nodiscard]] KvCache made_kv_cache(std::int64_t tokens);

}  // namespace sluice::bench
