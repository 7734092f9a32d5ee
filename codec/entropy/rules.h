// The constants and the arithmetic of the coder that every backend shares, CUDA included: each rule
// stands once.
// Where in the flow: under all kernels and tables; spec.md says the same in words.
#pragma once

#include <cstdint>

#include "codec/host_device.h"

namespace sluice::entropy {

inline constexpr int kLanes = 32;
inline constexpr int kTableBits = 11;
inline constexpr std::uint32_t kTableSlots = 1U << kTableBits;  // what frequencies sum to
inline constexpr std::uint32_t kSlotMask = kTableSlots - 1;
inline constexpr std::uint32_t kLowerBound = 1U
                                             << 16;  // states are in [2^16, 2^32) between symbols
inline constexpr int kWordBytes = 2;                 // a refill; little-endian
inline constexpr int kPairFirst = -16;               // symbols of a pair: -16 to 15
inline constexpr int kPairSpan = 32;
inline constexpr int kCostWindow = 64;  // symbols of a histogram that one weighing covers

// One slot of a decoding table, packed: the symbol relative to its column's centre (signed, bits
// 22-31; of a pair the first row's in bits 27-31 and the second's in bits 22-26), its frequency - 1
// (bits 11-21), the slot's distance from the symbol's first slot (bits 0-10).
using Slot = std::uint32_t;
[[nodiscard]] SLUICE_HOST_DEVICE constexpr Slot pack_slot(std::int32_t symbol,
                                                          std::uint32_t frequency,
                                                          std::uint32_t offset) {
  return (static_cast<std::uint32_t>(symbol) << 22) | ((frequency - 1) << kTableBits) | offset;
}
[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::int32_t symbol_of(Slot slot) {
  return static_cast<std::int32_t>(slot) >> 22;
}
[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::int32_t first_of(Slot slot) {
  return static_cast<std::int32_t>(slot) >> 27;
}
[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::int32_t second_of(Slot slot) {
  return static_cast<std::int32_t>(slot << 5) >> 27;
}
// The state after a symbol, before its refill.
[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::uint32_t state_after(Slot slot,
                                                                     std::uint32_t state) {
  const std::uint32_t frequency = (slot >> kTableBits & kSlotMask) + 1;
  return frequency * (state >> kTableBits) + (slot & kSlotMask);
}

// One symbol of an encoding table.
struct EncodingSymbol {
  std::uint32_t range = 0;       // frequency | start << 16; 0: not in the table
  std::uint32_t reciprocal = 0;  // floor(2^32 / frequency), or 2^32 - 1
};
[[nodiscard]] SLUICE_HOST_DEVICE constexpr EncodingSymbol encoding_symbol(std::uint32_t frequency,
                                                                          std::uint32_t start) {
  return {frequency | start << 16,
          frequency == 1 ? 0xFFFFFFFFU
                         : static_cast<std::uint32_t>((std::uint64_t{1} << 32) / frequency)};
}
// Whether the state must give a word before it takes the symbol.
[[nodiscard]] SLUICE_HOST_DEVICE constexpr bool must_shrink(std::uint32_t state,
                                                            EncodingSymbol symbol) {
  return state >> (32 - kTableBits) >= (symbol.range & 0xFFFFU);
}
// The state after the symbol. `state` < frequency * 2^21, so the quotient by the reciprocal is at
// most one too small.
[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::uint32_t encode_symbol(std::uint32_t state,
                                                                       EncodingSymbol symbol) {
  const std::uint32_t frequency = symbol.range & 0xFFFFU;
  auto quotient = static_cast<std::uint32_t>(std::uint64_t{state} * symbol.reciprocal >> 32);
  std::uint32_t rest = state - quotient * frequency;
  if (rest >= frequency) {
    ++quotient;
    rest -= frequency;
  }
  return (quotient << kTableBits) + (symbol.range >> 16) + rest;
}

}  // namespace sluice::entropy
