// The loops of the 32-lane rANS coder: pure, no allocation, no error but "the words ran out".
// Where in the flow: under binding.h, which checks, allocates and picks a backend; spec.md defines
// the stream.
// Surprise: the encoder runs backwards, from the last symbol and the last word to the first, so
// that the decoder runs forwards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace sluice::entropy {

inline constexpr std::int64_t kLanes = 32;
inline constexpr int kTableBits = 11;
inline constexpr std::uint32_t kTableSlots = 1U
                                             << kTableBits;  // frequencies of a table sum to this
inline constexpr std::uint32_t kLowerBound = 1U
                                             << 16;  // a state is in [2^16, 2^32) between symbols
inline constexpr int kWordBytes = 2;                 // a refill; little-endian

using LaneStates = std::array<std::uint32_t, kLanes>;

// One slot of a decoding table, packed: the symbol relative to its column's centre (signed, bits
// 22-31), its frequency - 1 (bits 11-21), the slot's distance from the symbol's first slot (bits
// 0-10).
using Slot = std::uint32_t;
[[nodiscard]] constexpr Slot pack_slot(std::int32_t symbol, std::uint32_t frequency,
                                       std::uint32_t offset) {
  return (static_cast<std::uint32_t>(symbol) << 22) | ((frequency - 1) << kTableBits) | offset;
}

// One symbol of an encoding table. `reciprocal` = floor(2^43 / frequency) + 1: then
// (x * reciprocal) >> 43 = floor(x / frequency) for every x < frequency * 2^21 and every frequency
// up to 2^11, without overflow of 64 bits.
struct EncodingSymbol {
  std::uint64_t reciprocal = 0;
  std::uint32_t frequency = 0;  // 0: not in the table
  std::uint32_t start = 0;
};
[[nodiscard]] constexpr std::uint64_t reciprocal_of(std::uint32_t frequency) {
  return (std::uint64_t{1} << 43) / frequency + 1;
}

// A matrix of symbols, row by row; symbol i belongs to column i % columns and lane i % 32.
struct DecodePart {
  std::int64_t rows = 0, columns = 0;     // columns >= 1
  const Slot* const* tables = nullptr;    // [column], each kTableSlots long
  const std::int16_t* centres = nullptr;  // [column]
  std::int16_t* symbols = nullptr;        // [row, column], written
};

struct EncodePart {
  std::int64_t rows = 0, columns = 0;             // columns >= 1
  const EncodingSymbol* const* tables = nullptr;  // [column], from the table's first symbol on
  const std::int32_t* bases = nullptr;            // [column], that symbol + the column's centre
  const std::int16_t* symbols = nullptr;          // [row, column]; each with a frequency >= 1
};

// Decodes one part, starting with lane 0. Reads refills from [words, words_end) and returns the
// place after the last one, or null when they ran out (symbols and states are then unspecified).
// Any states and words are safe. The sum symbol + centre wraps at 16 bits.
[[nodiscard]] const std::byte* decode_part(const DecodePart& part, LaneStates& states,
                                           const std::byte* words, const std::byte* words_end);

// Encodes one part, from its last symbol to its first; refills are written downwards from `words`,
// and the new top is returned. Precondition: states in [2^16, 2^32), kWordBytes of room per symbol.
[[nodiscard]] std::byte* encode_part(const EncodePart& part, LaneStates& states, std::byte* words);

}  // namespace sluice::entropy
