// The loops of the 32-lane rANS coder: pure, no allocation, no error but "the words ran out".
// Where in the flow: under tile_encode.cc and tile_decode.cc, which check, allocate and choose
// tables; spec.md defines the stream.
// Surprise: the encoder runs backwards, from the last symbol and the last word to the first, so
// that the decoder runs forwards.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codec/backend.h"
#include "codec/entropy/digit_rules.h"
#include "codec/entropy/rules.h"

namespace sluice::entropy {

// The tables of the lanes of one group of columns. Lanes in use come first; the others name the
// identity table, number 0 of every set, which leaves their state as it is.
struct DecodeLanes {
  const Slot* slots = nullptr;                  // of a table set: [table][kTableSlots]
  alignas(32) std::uint32_t offsets[kLanes]{};  // where each lane's table starts in `slots`
  alignas(32) std::int32_t centres[kLanes]{};   // added to each symbol, modulo 2^16
  int used = 0;                                 // 1 to kLanes
};

// A stream being decoded. Any states and words are safe.
struct DecodeState {
  alignas(32) std::uint32_t lanes[kLanes]{};
  const std::byte* words = nullptr;
  const std::byte* words_end = nullptr;
};

// Per lane of a group, the digit tables of each context; lanes that are not in use code only 0.
struct DigitLanes {
  DigitLanes() {
    for (auto& of_context : tables) {
      for (DigitTable& table : of_context) table = kOnlyZeroDigits;
    }
  }
  alignas(32) DigitTable tables[kNumDigitContexts][kLanes];
  int used = 0;
};

// Of each lane of a group: symbols that lie at or beyond an escape, relative to the centre. Lanes
// that are not in use have none.
struct EscapeLanes {
  EscapeLanes() {
    for (std::int16_t& low : lows) low = INT16_MIN;
    for (std::int16_t& high : highs) high = INT16_MAX;
  }
  // 1 or -1 when the symbol is at or beyond the upper or lower escape, else 0.
  [[nodiscard]] std::int32_t escape_of(int lane, std::int16_t symbol) const {
    const auto relative = static_cast<std::int16_t>(symbol - centres[lane]);
    if (highs[lane] == INT16_MAX) return 0;
    return relative <= lows[lane] ? -1 : relative >= highs[lane] ? 1 : 0;
  }
  alignas(32) std::int16_t centres[kLanes]{};
  alignas(32) std::int16_t lows[kLanes];
  alignas(32) std::int16_t highs[kLanes];
};

struct EncodeLanes {
  const EncodingSymbol* symbols = nullptr;     // of a table set
  alignas(32) std::int32_t offsets[kLanes]{};  // symbol s of a lane is symbols[offset + s]; a pair
                                               // (s, t) is symbols[offset + kPairSpan * s + t]
  alignas(32) std::int32_t centres[kLanes]{};  // taken from each symbol first
  int used = 0;
};

struct EncodeState {
  alignas(32) std::uint32_t lanes[kLanes]{};
  std::byte* words = nullptr;  // refills are written downwards from here
};

// What a backend does. `symbols` is [row][kLanes] of int16; lanes that are not in use hold 0 (read
// as such by the encoders, written as their centre, 0, by the decoders).
struct Kernels {
  // One symbol per lane and row. False when the words ran out: symbols and states are then
  // unspecified.
  bool (*decode_singles)(DecodeState& state, const DecodeLanes& lanes, std::int64_t rows,
                         std::int16_t* symbols);
  // Two rows per step: 2 * pairs rows.
  bool (*decode_pairs)(DecodeState& state, const DecodeLanes& lanes, std::int64_t pairs,
                       std::int16_t* symbols);
  // One digit per lane and row: every symbol becomes its refinement. False as above.
  bool (*decode_digits)(DecodeState& state, const DigitLanes& lanes, std::int64_t rows,
                        std::int16_t* symbols);
  // From the last row to the first. Every symbol has a frequency; two bytes of room per symbol or
  // pair.
  void (*encode_singles)(EncodeState& state, const EncodeLanes& lanes, std::int64_t rows,
                         const std::int16_t* symbols);
  void (*encode_pairs)(EncodeState& state, const EncodeLanes& lanes, std::int64_t pairs,
                       const std::int16_t* symbols);
  // The smallest and the largest symbol of each lane of a block of at least one row.
  void (*find_extents)(const std::int16_t* symbols, std::int64_t rows, std::int16_t (&low)[kLanes],
                       std::int16_t (&high)[kLanes]);
  // counts[lane][i] = how often low[lane] + i stands in the lane, i < span, a multiple of 8, at
  // most kCostWindow. Up to 2^15 - 1 rows.
  void (*count)(const std::int16_t* symbols, std::int64_t rows, const std::int16_t (&low)[kLanes],
                int span, std::int16_t (*counts)[kCostWindow]);
  // The first row from `row` on that has an escape in some lane, or maybe one at the edge of 16
  // bits in a lane that has none; `rows` if there is no such row.
  std::int64_t (*find_escape)(const std::int16_t* symbols, std::int64_t row, std::int64_t rows,
                              const EscapeLanes& lanes);
  // sum of counts[i] * costs[i], i < span, a multiple of 16; each product and the sum fit 31 bits.
  std::int32_t (*weigh)(const std::int16_t* counts, const std::int16_t* costs, int span);
};

[[nodiscard]] const Kernels& kernels_of(Backend backend);

extern const Kernels kScalarKernels;
#if SLUICE_AVX2
extern const Kernels kAvx2Kernels;
#endif

}  // namespace sluice::entropy
