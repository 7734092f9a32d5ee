// Which channels share a table: up to 32 tables fitted to the section's own channels.
// Where in the flow: binding.cc gives it one histogram per channel of a section; the tables go in
// front of the section. Encoder only.
// Surprise: costs are integers, so that every host and backend chooses alike.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/entropy/kernel.h"
#include "codec/entropy/tables.h"

namespace sluice::lossless {

inline constexpr int kMaxTables = 32;
// Symbols that tables hold: -32 to 31; all others are exceptions of the entropy coder.
inline constexpr std::int32_t kFirstSymbol = -32;
inline constexpr std::int32_t kNumSymbols = 64;
static_assert(kNumSymbols == entropy::kCostWindow);

// How often each symbol stands in a channel, and how many do not fit.
struct Histogram {
  alignas(32) std::array<std::int16_t, kNumSymbols> counts{};  // sum at most 2^15 - 1
  std::int64_t outside = 0;
};

struct ColumnClasses {
  std::vector<entropy::Frequencies> tables;  // 1 to kMaxTables
  std::vector<std::uint8_t> table_of_column;
};

// `weight`: how many elements each count stands for (long channels are counted in part).
[[nodiscard]] ColumnClasses fit_classes(std::span<const Histogram> columns, double weight,
                                        const entropy::Kernels& kernels);

// Bits of a class number; every channel has one.
[[nodiscard]] constexpr int class_bits(std::size_t num_tables) {
  int bits = 0;
  while ((std::size_t{1} << bits) < num_tables) ++bits;
  return bits;
}

}  // namespace sluice::lossless
