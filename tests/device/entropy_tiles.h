// Planes of symbols and digits as a warp per tile decodes them, for entropy_tiles_test.cc.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace sluice {

// The kernels of codec/entropy/cuda_symbols.h over a base's bytes with its digits' behind it (maybe
// none): the symbols, [row, column], or what decode_plane() and decode_digits() would say. Threads
// run in one of the orders of kernel_order.h.
[[nodiscard]] Result<std::vector<std::int16_t>> decode_tiles_on_device(
    std::span<const std::byte> payload, bool has_digits, std::int64_t rows, std::int64_t columns,
    std::span<const std::int8_t> shifts);

}  // namespace sluice
