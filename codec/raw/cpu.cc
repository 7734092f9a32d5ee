#include <cstring>

#include "codec/raw/kernel.h"

namespace sluice::raw {
namespace {

// move(offset in the tensor's memory, offset in the packed bytes, bytes) over the longest
// contiguous runs: a head's tokens, a row, or one element.
template <typename Move>
void for_each_run(const TensorShape& shape, const Strides& strides, Move move) {
  const std::int64_t width = bytes_per_element(shape.dtype);
  const bool is_row = strides.dim == 1;
  const bool is_head = is_row && strides.token == shape.dim;
  const std::int64_t run_dims = is_row ? shape.dim : 1;
  const std::int64_t run_tokens = is_head ? shape.tokens : 1;
  const std::int64_t run_bytes = run_tokens * run_dims * width;
  std::int64_t packed = 0;
  for (std::int64_t head = 0; head < shape.heads; ++head) {
    for (std::int64_t token = 0; token < shape.tokens; token += run_tokens) {
      for (std::int64_t dim = 0; dim < shape.dim; dim += run_dims) {
        const std::int64_t element =
            head * strides.head + token * strides.token + dim * strides.dim;
        move(element * width, packed, static_cast<std::size_t>(run_bytes));
        packed += run_bytes;
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

void append(const TensorView& tensor, std::vector<std::byte>& packed) {
  for_each_run(tensor.shape, tensor.strides,
               [&](std::int64_t from, std::int64_t, std::size_t bytes) {
                 packed.insert(packed.end(), tensor.data + from, tensor.data + from + bytes);
               });
}

void unpack(std::span<const std::byte> packed, const MutableTensorView& tensor, Copy copy) {
  for_each_run(tensor.shape, tensor.strides,
               [&](std::int64_t to, std::int64_t from, std::size_t bytes) {
                 copy(tensor.data + to, packed.data() + from, bytes);
               });
}

void copy_bytes(std::byte* to, const std::byte* from, std::size_t num_bytes) {
  std::memcpy(to, from, num_bytes);
}

}  // namespace sluice::raw
