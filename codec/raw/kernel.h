// The loops of raw: a strided tensor to packed bytes and back. Pure, allocates nothing.
#pragma once

#include <cstddef>
#include <span>

#include "codec/kv_cache.h"

namespace sluice::raw {

// packed: [head, token, dim] in the tensor's dtype, tensor.shape.size() bytes. The bits are moved,
// not converted.
void pack(const TensorView& tensor, std::span<std::byte> packed);
void unpack(std::span<const std::byte> packed, const MutableTensorView& tensor);

}  // namespace sluice::raw
