// The loops of raw: a strided tensor to packed bytes and back. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codec/kv_cache.h"

namespace sluice::raw {

// packed: [head, token, dim] in the tensor's dtype, tensor.shape.size() bytes. The bits are moved,
// not converted.
void pack(const TensorView& tensor, std::span<std::byte> packed);
// The same behind what `packed` holds; memory that was reserved is written once, not twice.
void append(const TensorView& tensor, std::vector<std::byte>& packed);

// How runs of bytes are moved; both addresses may be unaligned.
using Copy = void (*)(std::byte* to, const std::byte* from, std::size_t num_bytes);
void copy_bytes(std::byte* to, const std::byte* from, std::size_t num_bytes);

void unpack(std::span<const std::byte> packed, const MutableTensorView& tensor, Copy copy);

}  // namespace sluice::raw
