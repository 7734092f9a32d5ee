// The option that shows its cost: a 33 x 16-bit distribution function per column, sent with the
// symbols, as LMCache does (2.06 bit per element at 256 tokens).
// Where in the flow: beside class_family.h, chosen by PlaneOptions::model.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "codec/entropy/stats.h"
#include "codec/entropy/tables.h"
#include "codec/host_device.h"

namespace sluice::entropy {

inline constexpr std::int32_t kShippedFirst = -16;  // symbols -16 to 15
inline constexpr std::size_t kShippedSymbols = 32;
// Entry i is 65536 * P(symbol < kShippedFirst + i), modulo 65536: the first and last are 0.
using ShippedDistribution = std::array<std::uint16_t, kShippedSymbols + 1>;

// Entry i, where `below` of the column's rows have smaller symbols. Every symbol keeps at least
// 1 / 65536, the used ones at least 2 / 65536.
[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::uint16_t shipped_entry(std::uint32_t below,
                                                                       std::uint32_t rows,
                                                                       std::uint32_t i) {
  constexpr std::uint32_t kShared = 65536 - static_cast<std::uint32_t>(kShippedSymbols);
  return static_cast<std::uint16_t>(std::uint64_t{below} * kShared / rows + i);
}

// The distribution of one column, symbols[row * stride], every one from -16 to 15. Up to 65504
// rows.
[[nodiscard]] ShippedDistribution measure_distribution(const std::int16_t* symbols,
                                                       std::int64_t stride, std::int64_t rows);

// The table both sides code with; symbols whose probability is 1 / 65536 are unused. Nothing when
// the distribution decreases.
[[nodiscard]] std::optional<Frequencies> to_table(const ShippedDistribution& distribution);

}  // namespace sluice::entropy
