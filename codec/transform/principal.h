// The strongest components of a matrix: x[t, c] is nearly the sum over j of size[j] * token[j, t] *
// channel[j, c].
// Where in the flow: encoder only, between a block's values and the allocation of bits.
// Surprise: subspace iteration and Jacobi rotations of our own, every sum in one fixed order: a
// library's sums depend on its version and on the host's caches, and so would the bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/transform/kernel.h"

namespace sluice::transform {

// Decreasing sizes; rows of `tokens` and `channels` have length 1 and are orthogonal to each other.
struct Principal {
  std::vector<float> sizes;     // [component]
  std::vector<float> tokens;    // [component, token]
  std::vector<float> channels;  // [component, channel]
};

// `matrix` is [rows, columns]; at most min(count, rows, columns) components. Finite numbers only.
[[nodiscard]] Principal principal_components(std::span<const float> matrix, std::int64_t rows,
                                             std::int64_t columns, std::int64_t count,
                                             const Kernels& kernels);

}  // namespace sluice::transform
