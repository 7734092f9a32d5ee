// raw's copy past the caches, for large outputs.
#pragma once

#include <cstddef>

namespace sluice::raw::avx2 {

// A Copy of kernel.h.
void copy_around_caches(std::byte* to, const std::byte* from, std::size_t num_bytes);

}  // namespace sluice::raw::avx2
