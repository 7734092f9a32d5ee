// The scalar backend, and the oracle of all others.
#include "codec/entropy/kernel.h"

namespace sluice::entropy {
namespace {

std::uint32_t load_word(const std::byte* at) {
  return std::to_integer<std::uint32_t>(at[0]) | std::to_integer<std::uint32_t>(at[1]) << 8;
}

void store_word(std::byte* at, std::uint32_t word) {
  at[0] = static_cast<std::byte>(word & 0xFF);
  at[1] = static_cast<std::byte>(word >> 8 & 0xFF);
}

// Where the next symbol goes: the column runs through the row, whatever the lane.
struct Column {
  std::int64_t index = 0;
  void next(std::int64_t columns) { index = index + 1 == columns ? 0 : index + 1; }
  void previous(std::int64_t columns) { index = index == 0 ? columns - 1 : index - 1; }
};

// The symbol of a state, and the state before its refill.
std::int16_t decode_symbol(const DecodePart& part, std::int64_t column, std::uint32_t& state) {
  const Slot slot = part.tables[column][state & (kTableSlots - 1)];
  const std::uint32_t frequency = (slot >> kTableBits & (kTableSlots - 1)) + 1;
  state = frequency * (state >> kTableBits) + (slot & (kTableSlots - 1));
  const std::int32_t relative = static_cast<std::int32_t>(slot) >> 22;
  return static_cast<std::int16_t>(part.centres[column] + relative);
}

}  // namespace

const std::byte* decode_part(const DecodePart& part, LaneStates& states, const std::byte* words,
                             const std::byte* words_end) {
  const std::int64_t total = part.rows * part.columns;
  Column column;
  std::int64_t i = 0;
  // Whole steps while even 32 refills are there: no check per lane.
  while (i + kLanes <= total && words_end - words >= kLanes * kWordBytes) {
    for (std::uint32_t& state : states) {
      part.symbols[i++] = decode_symbol(part, column.index, state);
      column.next(part.columns);
      const bool refill = state < kLowerBound;
      const std::uint32_t refilled = state << 16 | load_word(words);
      state = refill ? refilled : state;
      words += refill ? kWordBytes : 0;
    }
  }
  for (; i < total; ++i) {
    std::uint32_t& state = states[static_cast<std::size_t>(i % kLanes)];
    part.symbols[i] = decode_symbol(part, column.index, state);
    column.next(part.columns);
    if (state >= kLowerBound) continue;
    if (words_end - words < kWordBytes) return nullptr;
    state = state << 16 | load_word(words);
    words += kWordBytes;
  }
  return words;
}

std::byte* encode_part(const EncodePart& part, LaneStates& states, std::byte* words) {
  Column column;
  for (std::int64_t i = part.rows * part.columns - 1; i >= 0; --i) {
    column.previous(part.columns);
    const std::int64_t c = column.index;
    const EncodingSymbol& symbol = part.tables[c][part.symbols[i] - part.bases[c]];
    std::uint32_t& state = states[static_cast<std::size_t>(i % kLanes)];
    std::uint64_t x = state;
    if (x >> (32 - kTableBits) >= symbol.frequency) {
      words -= kWordBytes;
      store_word(words, static_cast<std::uint32_t>(x));
      x >>= 16;
    }
    const std::uint64_t quotient = x * symbol.reciprocal >> 43;
    state =
        static_cast<std::uint32_t>(x + symbol.start + quotient * (kTableSlots - symbol.frequency));
  }
  return words;
}

}  // namespace sluice::entropy
