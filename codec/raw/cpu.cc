#include <cstring>

#include "codec/raw/kernel.h"

namespace sluice::raw {
namespace {

// move(offset in the tensor's memory, offset in the packed bytes, bytes) over the longest
// contiguous runs.
template <typename Move>
void for_each_run(const TensorShape& shape, const Strides& strides, Move move) {
  const std::int64_t width = bytes_per_element(shape.dtype);
  const bool is_row = strides.dim == 1;  // a [dim] row lies in one piece
  const std::int64_t run_dims = is_row ? shape.dim : 1;
  std::int64_t packed = 0;
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    for (std::int64_t token = 0; token < shape.tokens; ++token) {
      for (std::int64_t dim = 0; dim < shape.dim; dim += run_dims) {
        const std::int64_t element =
            head * strides.head + token * strides.token + dim * strides.dim;
        move(element * width, packed, static_cast<std::size_t>(run_dims * width));
        packed += run_dims * width;
      }
    }
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
