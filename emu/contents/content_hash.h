// Hashes of what is served and of what it decodes to (XXH3, of xxHash): they find damage, not
// forgery, which sealed records keep out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "codec/kv_cache.h"

namespace sluice {

// XXH3-64.
[[nodiscard]] std::uint64_t hash_bytes(std::span<const std::byte> bytes);

// The same of bytes that come in pieces, hashed while they are in the processor's cache.
class BytesHash {
 public:
  BytesHash();
  ~BytesHash();
  BytesHash(BytesHash&&) noexcept;
  BytesHash& operator=(BytesHash&&) noexcept;
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::size_t num_bytes() const { return num_bytes_; }
  [[nodiscard]] std::uint64_t digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::size_t num_bytes_ = 0;
};

// XXH3-128.
struct TensorHash {
  std::uint64_t high = 0, low = 0;
  bool operator==(const TensorHash&) const = default;
};

// The hash of the hashes (high, low as u64) of all tensors in order of layers, key before value.
// One tensor's is of its dtype, heads, tokens, dim as i64, then its elements as [head, token, dim],
// which is how KvCache::allocate() keeps them; the same for equal tensors wherever they lie.
// Tensors are hashed on `threads` threads (> 0).
[[nodiscard]] TensorHash hash_tensors(const KvView& view, int threads = 1);

[[nodiscard]] std::string to_text(const TensorHash& hash);  // 32 lower-case digits
[[nodiscard]] std::optional<TensorHash> tensor_hash_from_text(std::string_view text);
[[nodiscard]] std::string hash_to_text(std::uint64_t hash);  // 16 lower-case digits
[[nodiscard]] std::optional<std::uint64_t> hash_from_text(std::string_view text);

}  // namespace sluice
