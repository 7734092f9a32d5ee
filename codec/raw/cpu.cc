#include <cstring>

#include "codec/raw/kernel.h"

namespace sluice::raw {
namespace {

// Elements in one piece, in the order [head, token, dim]: everything, a head's tokens, a row, one.
std::int64_t run_elements(const TensorShape& shape, const Strides& strides) {
  if (strides.dim != 1) return 1;
  if (strides.token != shape.dim) return shape.dim;
  if (strides.head != shape.tokens * shape.dim) return shape.tokens * shape.dim;
  return shape.elements();
}

// move(offset in the tensor's memory, offset in the packed bytes, bytes) over the longest
// contiguous runs.
template <typename Move>
void for_each_run(const TensorShape& shape, const Strides& strides, Move move) {
  const std::int64_t width = bytes_per_element(shape.dtype);
  const std::int64_t run = run_elements(shape, strides);
  for (std::int64_t packed = 0; packed < shape.elements(); packed += run) {
    const std::int64_t row = packed / shape.dim;
    const std::int64_t element = row / shape.tokens * strides.head +
                                 row % shape.tokens * strides.token +
                                 packed % shape.dim * strides.dim;
    move(element * width, packed * width, static_cast<std::size_t>(run * width));
  }
}

}  // namespace

void pack(const TensorView& tensor, std::span<std::byte> packed) {
  for_each_run(tensor.shape, tensor.strides,
               [&](std::int64_t from, std::int64_t to, std::size_t bytes) {
                 std::memcpy(packed.data() + to, tensor.data + from, bytes);
               });
}

void unpack(std::span<const std::byte> packed, const MutableTensorView& tensor) {
  for_each_run(tensor.shape, tensor.strides,
               [&](std::int64_t to, std::int64_t from, std::size_t bytes) {
                 std::memcpy(tensor.data + to, packed.data() + from, bytes);
               });
}

}  // namespace sluice::raw
