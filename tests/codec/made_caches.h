// KV caches made by hand for the codec tests: every odd shape and value that a codec must survive.
#pragma once

#include <string>
#include <vector>

#include "codec/kv_cache.h"

namespace sluice {

// Values near N(0, 1) with some outlying channels, from `seed`.
[[nodiscard]] KvCache made_cache(const KvShape& shape, std::uint64_t seed = 1);

// The same values as `view`, stored [token, head, dim].
[[nodiscard]] KvCache token_major_copy(const KvView& view);

// Key and value of one shape.
[[nodiscard]] KvLayer<TensorShape> layer_of(std::int64_t number, const TensorShape& shape);
// The same, of the tokens at these positions alone; `shape` has as many.
[[nodiscard]] KvLayer<TensorShape> layer_at(std::int64_t number, const TensorShape& shape,
                                            const Positions& positions);

struct NamedCache {
  std::string name;  // letters and digits only: it becomes part of a test's name
  KvCache cache;
};
[[nodiscard]] std::vector<NamedCache> odd_caches();

// Bit for bit: dtypes, shapes, layer numbers, positions, RoPE facts, elements.
void expect_same(const KvView& a, const KvView& b);
void expect_same_shape(const KvShape& a, const KvShape& b);

}  // namespace sluice
