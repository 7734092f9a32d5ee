// Hashes of what is served and of what it decodes to (XXH3, of xxHash): they find damage, not
// forgery, which sealed records keep out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "codec/kv_cache.h"

namespace sluice {

// XXH3-64.
[[nodiscard]] std::uint64_t hash_bytes(std::span<const std::byte> bytes);

// XXH3-128.
struct TensorHash {
  std::uint64_t high = 0, low = 0;
  bool operator==(const TensorHash&) const = default;
};

// Of every tensor in order of layers, key before value: its dtype, heads, tokens, dim as i64, then
// its elements as [head, token, dim], which is how KvCache::allocate() keeps them; the same for
// equal tensors wherever they lie.
[[nodiscard]] TensorHash hash_tensors(const KvView& view);

[[nodiscard]] std::string to_text(const TensorHash& hash);  // 32 lower-case digits
[[nodiscard]] std::optional<TensorHash> tensor_hash_from_text(std::string_view text);
[[nodiscard]] std::string hash_to_text(std::uint64_t hash);  // 16 lower-case digits
[[nodiscard]] std::optional<std::uint64_t> hash_from_text(std::string_view text);

}  // namespace sluice
