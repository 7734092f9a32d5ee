// The scalar backend, and the oracle of all others.
#include <algorithm>

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

// Moves a lane's state past the slot that it stood at; false when a refill is missing.
bool move_on(DecodeState& state, int lane, Slot slot) {
  std::uint32_t& x = state.lanes[lane];
  x = state_after(slot, x);
  if (x >= kLowerBound) return true;
  if (state.words_end - state.words < kWordBytes) return false;
  x = x << 16 | load_word(state.words);
  state.words += kWordBytes;
  return true;
}

bool take(DecodeState& state, const DecodeLanes& lanes, int lane, Slot& slot) {
  slot = lanes.slots[lanes.offsets[lane] + (state.lanes[lane] & kSlotMask)];
  return move_on(state, lane, slot);
}

std::int16_t around(std::int32_t centre, std::int32_t symbol) {
  return static_cast<std::int16_t>(centre + symbol);
}

void put(EncodeState& state, int lane, EncodingSymbol symbol) {
  std::uint32_t& x = state.lanes[lane];
  if (must_shrink(x, symbol)) {
    state.words -= kWordBytes;
    store_word(state.words, x);
    x >>= 16;
  }
  x = encode_symbol(x, symbol);
}

// A plane of one column is a chain of steps, each waiting for the last: its state stays in
// registers. put(step, slot) is called for every step.
template <typename Put>
bool decode_lone_lane(DecodeState& state, const DecodeLanes& lanes, std::int64_t steps, Put put) {
  const Slot* const slots = lanes.slots + lanes.offsets[0];
  std::uint32_t x = state.lanes[0];
  const std::byte* words = state.words;
  for (std::int64_t step = 0; step < steps; ++step) {
    const Slot slot = slots[x & kSlotMask];
    x = state_after(slot, x);
    if (x < kLowerBound) {
      if (state.words_end - words < kWordBytes) return false;
      x = x << 16 | load_word(words);
      words += kWordBytes;
    }
    put(step, slot);
  }
  state.lanes[0] = x;
  state.words = words;
  return true;
}

bool decode_singles(DecodeState& state, const DecodeLanes& lanes, std::int64_t rows,
                    std::int16_t* symbols) {
  if (lanes.used == 1) {
    std::fill_n(symbols, rows * kLanes, std::int16_t{0});
    return decode_lone_lane(state, lanes, rows, [&](std::int64_t row, Slot slot) {
      symbols[row * kLanes] = around(lanes.centres[0], symbol_of(slot));
    });
  }
  for (std::int64_t row = 0; row < rows; ++row, symbols += kLanes) {
    for (int lane = 0; lane < lanes.used; ++lane) {
      Slot slot;
      if (!take(state, lanes, lane, slot)) return false;
      symbols[lane] = around(lanes.centres[lane], symbol_of(slot));
    }
    std::fill(symbols + lanes.used, symbols + kLanes, std::int16_t{0});
  }
  return true;
}

bool decode_pairs(DecodeState& state, const DecodeLanes& lanes, std::int64_t pairs,
                  std::int16_t* symbols) {
  if (lanes.used == 1) {
    std::fill_n(symbols, 2 * pairs * kLanes, std::int16_t{0});
    return decode_lone_lane(state, lanes, pairs, [&](std::int64_t pair, Slot slot) {
      symbols[2 * pair * kLanes] = around(lanes.centres[0], first_of(slot));
      symbols[(2 * pair + 1) * kLanes] = around(lanes.centres[0], second_of(slot));
    });
  }
  for (std::int64_t pair = 0; pair < pairs; ++pair, symbols += 2 * kLanes) {
    for (int lane = 0; lane < lanes.used; ++lane) {
      Slot slot;
      if (!take(state, lanes, lane, slot)) return false;
      symbols[lane] = around(lanes.centres[lane], first_of(slot));
      symbols[kLanes + lane] = around(lanes.centres[lane], second_of(slot));
    }
    std::fill(symbols + lanes.used, symbols + kLanes, std::int16_t{0});
    std::fill(symbols + kLanes + lanes.used, symbols + 2 * kLanes, std::int16_t{0});
  }
  return true;
}

bool decode_digits(DecodeState& state, const DigitLanes& lanes, std::int64_t rows,
                   std::int16_t* symbols) {
  for (std::int64_t row = 0; row < rows; ++row, symbols += kLanes) {
    for (int lane = 0; lane < lanes.used; ++lane) {
      const std::int32_t coarse = symbols[lane];
      const DigitTable table = lanes.tables[digit_context(coarse)][lane];
      const Slot slot = digit_slot(table, state.lanes[lane] & kSlotMask);
      if (!move_on(state, lane, slot)) return false;
      symbols[lane] = refined(coarse, seen_from_zero(coarse, symbol_of(slot)));
    }
  }
  return true;
}

void encode_singles(EncodeState& state, const EncodeLanes& lanes, std::int64_t rows,
                    const std::int16_t* symbols) {
  for (std::int64_t row = rows - 1; row >= 0; --row) {
    for (int lane = lanes.used - 1; lane >= 0; --lane) {
      const std::int32_t symbol = symbols[row * kLanes + lane] - lanes.centres[lane];
      put(state, lane, lanes.symbols[lanes.offsets[lane] + symbol]);
    }
  }
}

void encode_pairs(EncodeState& state, const EncodeLanes& lanes, std::int64_t pairs,
                  const std::int16_t* symbols) {
  for (std::int64_t pair = pairs - 1; pair >= 0; --pair) {
    const std::int16_t* const rows = symbols + 2 * kLanes * pair;
    for (int lane = lanes.used - 1; lane >= 0; --lane) {
      const std::int32_t first = rows[lane] - lanes.centres[lane];
      const std::int32_t second = rows[kLanes + lane] - lanes.centres[lane];
      put(state, lane, lanes.symbols[lanes.offsets[lane] + kPairSpan * first + second]);
    }
  }
}

void find_extents(const std::int16_t* symbols, std::int64_t rows, std::int16_t (&low)[kLanes],
                  std::int16_t (&high)[kLanes]) {
  for (int lane = 0; lane < kLanes; ++lane) low[lane] = high[lane] = symbols[lane];
  for (std::int64_t row = 1; row < rows; ++row) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::int16_t symbol = symbols[row * kLanes + lane];
      low[lane] = symbol < low[lane] ? symbol : low[lane];
      high[lane] = symbol > high[lane] ? symbol : high[lane];
    }
  }
}

void count(const std::int16_t* symbols, std::int64_t rows, const std::int16_t (&low)[kLanes],
           int span, std::int16_t (*counts)[kCostWindow]) {
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < span; ++i) counts[lane][i] = 0;
  }
  for (std::int64_t row = 0; row < rows; ++row) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const int place = symbols[row * kLanes + lane] - low[lane];
      if (place < span) ++counts[lane][place];
    }
  }
}

std::int64_t find_escape(const std::int16_t* symbols, std::int64_t row, std::int64_t rows,
                         const EscapeLanes& lanes) {
  for (; row < rows; ++row) {
    for (int lane = 0; lane < kLanes; ++lane) {
      if (lanes.escape_of(lane, symbols[row * kLanes + lane]) != 0) return row;
    }
  }
  return rows;
}

std::int32_t weigh(const std::int16_t* counts, const std::int16_t* costs, int span) {
  std::int32_t sum = 0;
  for (int i = 0; i < span; ++i) sum += counts[i] * costs[i];
  return sum;
}

}  // namespace

const Kernels kScalarKernels = {decode_singles, decode_pairs, decode_digits,
                                encode_singles, encode_pairs, find_extents,
                                count,          find_escape,  weigh};

const Kernels& kernels_of(Backend backend) {
#if SLUICE_AVX2
  if (backend == Backend::kAvx2) return kAvx2Kernels;
#endif
  (void)backend;
  return kScalarKernels;
}

}  // namespace sluice::entropy
