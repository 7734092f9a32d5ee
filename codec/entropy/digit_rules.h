// Ternary digits that refine known symbols: the rules that every backend shares, CUDA included.
// Where in the flow: under the digit planes (model 3); spec.md, section 9.
// Surprise: a digit is coded relative to the sign of its coarse symbol, as seen from zero: -1 is
// the inner third, +1 the outer one.
#pragma once

#include <cstdint>

#include "codec/entropy/rules.h"
#include "codec/host_device.h"

namespace sluice::entropy {

// Scale i stands for a standard deviation of 0.03 * 2^(i/4) steps of the coarse symbol.
inline constexpr std::int32_t kNumDigitScales = 32;
inline constexpr std::int32_t kDigitScaleOfClassScale0 = 8;
// exp(-|x|^e), e = 2, 1.3, 1, 0.7.
inline constexpr std::int32_t kNumDigitShapes = 4;
inline constexpr std::int32_t kNumDigitContexts = 4;                    // min(|coarse symbol|, 3)
inline constexpr std::int32_t kNumDigitPlaces = 3 * kNumDigitContexts;  // (context, digit)

[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::int32_t digit_context(std::int32_t coarse) {
  const std::int32_t size = coarse < 0 ? -coarse : coarse;
  return size < kNumDigitContexts ? size : kNumDigitContexts - 1;
}
// The digit as seen from zero, and back: the same rule both ways.
[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::int32_t seen_from_zero(std::int32_t coarse,
                                                                       std::int32_t digit) {
  return coarse < 0 ? -digit : digit;
}
// The symbol of a third of the step, modulo 2^16.
[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::int16_t refined(std::int32_t coarse,
                                                                std::int32_t digit) {
  return static_cast<std::int16_t>(3 * coarse + digit);
}

// A table of three frequencies: the first slots of digits 0 (bits 0-15) and 1 (bits 16-31).
using DigitTable = std::uint32_t;
inline constexpr DigitTable kOnlyZeroDigits = kTableSlots << 16;
[[nodiscard]] SLUICE_HOST_DEVICE constexpr DigitTable pack_digits(std::uint32_t first,
                                                                  std::uint32_t second) {
  return first | (first + second) << 16;
}
// What stands at a place of the table, packed as slots of other tables are.
[[nodiscard]] SLUICE_HOST_DEVICE constexpr Slot digit_slot(DigitTable table, std::uint32_t place) {
  const std::uint32_t zero = table & 0xFFFFU, one = table >> 16;
  const std::int32_t digit = place < zero ? -1 : place < one ? 0 : 1;
  const std::uint32_t begin = digit < 0 ? 0 : digit == 0 ? zero : one;
  const std::uint32_t end = digit < 0 ? zero : digit == 0 ? one : kTableSlots;
  return pack_slot(digit, end - begin, place - begin);
}

// A column's distribution of digits. Any numbers name one: scale + shift of the row is limited to
// the grid.
struct DigitModel {
  std::int16_t scale = 0;
  std::int16_t shape = 0;  // 0 to kNumDigitShapes - 1
};
[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::int32_t digit_scale(std::int32_t scale,
                                                                    std::int32_t shift) {
  const std::int32_t sum = scale + shift;
  return sum < 0 ? 0 : sum < kNumDigitScales ? sum : kNumDigitScales - 1;
}

}  // namespace sluice::entropy
