// One tensor of a KV cache in memory: its shape, and strided views of it that copy nothing.
// Where in the flow: codecs read TensorViews and write MutableTensorViews; kv_cache.h puts them
// into layers.
// Surprise: a view computes in fp32 whatever the dtype; reading is exact, writing rounds to
// nearest, ties to even.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/units.h"
#include "codec/backend.h"
#include "codec/dtype.h"

namespace sluice {

// Logically [head, token, dim]. A latent has one head. Any count may be 0.
struct TensorShape {
  Dtype dtype = Dtype::kFp16;
  std::int64_t heads = 0;
  std::int64_t tokens = 0;
  std::int64_t dim = 0;

  [[nodiscard]] std::int64_t channels() const { return heads * dim; }
  [[nodiscard]] std::int64_t elements() const { return channels() * tokens; }
  [[nodiscard]] DataSize size() const {
    return DataSize::bytes(elements() * bytes_per_element(dtype));
  }
  bool operator==(const TensorShape&) const = default;
};

// Distance in elements from one head, token or dim to the next; [head, token, dim] and [token,
// head, dim] sources are both views without a copy.
struct Strides {
  std::int64_t head = 0;
  std::int64_t token = 0;
  std::int64_t dim = 1;
};
[[nodiscard]] Strides head_major(
    const TensorShape& shape);  // [head, token, dim], as captures are stored
[[nodiscard]] Strides token_major(const TensorShape& shape);  // [token, head, dim]

// Borrowed memory of one tensor, in host byte order, aligned or not.
struct TensorView {
  TensorShape shape;
  const std::byte* data = nullptr;
  Strides strides;

  // The element as fp32, exact for every dtype.
  [[nodiscard]] float at(std::int64_t head, std::int64_t token, std::int64_t dim) const;
  // Channels of one token as fp32: out[head * dim_count + dim]; `out` holds shape.channels()
  // elements. Fast where strides.dim is 1.
  void read_token(std::int64_t token, std::span<float> out, Backend backend = best_backend()) const;
  // Tokens [begin, begin + tokens) of the same memory.
  [[nodiscard]] TensorView slice(std::int64_t begin, std::int64_t tokens) const;
};

struct MutableTensorView {
  TensorShape shape;
  std::byte* data = nullptr;
  Strides strides;

  // Rounds to the dtype: to nearest, ties to even.
  void set(std::int64_t head, std::int64_t token, std::int64_t dim, float value) const;
  // The inverse of TensorView::read_token, rounding as set() does.
  void write_token(std::int64_t token, std::span<const float> channels,
                   Backend backend = best_backend()) const;
  [[nodiscard]] TensorView view() const { return {shape, data, strides}; }
};

}  // namespace sluice
