// A tensor with its memory, for codec tests.
#pragma once

#include <vector>

#include "codec/kv_cache.h"

namespace sluice {

class OwnedTensor {
 public:
  explicit OwnedTensor(const TensorShape& shape)
      : shape_(shape), memory_(static_cast<std::size_t>(shape.size().bytes())) {}
  template <typename Value>
  OwnedTensor(const TensorShape& shape, const Value& value) : OwnedTensor(shape) {
    for (std::int64_t head = 0; head < shape.heads; ++head) {
      for (std::int64_t token = 0; token < shape.tokens; ++token) {
        for (std::int64_t dim = 0; dim < shape.dim; ++dim) {
          mutable_view().set(head, token, dim, value(head, token, dim));
        }
      }
    }
  }
  [[nodiscard]] TensorView view() const { return {shape_, memory_.data(), head_major(shape_)}; }
  [[nodiscard]] MutableTensorView mutable_view() {
    return {shape_, memory_.data(), head_major(shape_)};
  }
  [[nodiscard]] const std::vector<std::byte>& memory() const { return memory_; }

 private:
  TensorShape shape_;
  std::vector<std::byte> memory_;
};

}  // namespace sluice
