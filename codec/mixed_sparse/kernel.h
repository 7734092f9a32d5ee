// The loops of mixed-sparse: a token's 4-bit codes to bytes, dense or without zeros, and back.
// Where in the flow: between encode.cc or decode.cc, which know scales and fp16 entries, and the
// payload.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice::mixed_sparse {

// Two codes (-7 to 7) per byte, two's complement, the first in the low half.
[[nodiscard]] constexpr std::size_t dense_bytes(std::size_t channels) {
  return (channels + 1) / 2;
}
// A bit per channel, set where the code is not 0, then those codes as above.
[[nodiscard]] constexpr std::size_t sparse_bytes(std::size_t channels, std::size_t num_codes) {
  return (channels + 7) / 8 + dense_bytes(num_codes);
}

[[nodiscard]] std::size_t count_codes(std::span<const std::int8_t> codes);  // that are not 0

// `bytes` are zeros, as many as the functions above say.
void put_dense(std::span<const std::int8_t> codes, std::byte* bytes);
void put_sparse(std::span<const std::int8_t> codes, std::byte* bytes);

// Of the token at the start of `bytes`: how long it is; 0 when it does not fit or its padding is
// not zero.
[[nodiscard]] std::size_t get_dense(std::span<const std::byte> bytes, std::span<std::int8_t> codes);
[[nodiscard]] std::size_t get_sparse(std::span<const std::byte> bytes,
                                     std::span<std::int8_t> codes);

}  // namespace sluice::mixed_sparse
