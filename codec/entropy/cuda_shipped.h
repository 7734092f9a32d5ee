// Shipped tables on a GPU: each lane makes its own column's table and searches it.
// Where in the flow: under cuda_decode.h, for the levels that show what such tables cost. spec.md,
// section 7.
#pragma once

#include "codec/entropy/cuda_plan.h"
#include "codec/entropy/cuda_stream.h"
#include "codec/entropy/shipped_tables.h"

namespace sluice::entropy {

inline constexpr unsigned kShippedBytes = 2 * (static_cast<unsigned>(kShippedSymbols) + 1);

// The first slot of each symbol, [symbol][lane] in shared memory: no two lanes share a bank, none
// reads what another wrote.
struct ShippedStarts {
  std::uint16_t starts[kShippedSymbols][kLanes];

  // The distribution of a column, symbols[row * stride], to its bytes.
  __device__ void measure(const std::int16_t* symbols, std::int64_t stride, unsigned rows,
                          std::byte* distribution);
  // From one column's distribution; false when it is none.
  __device__ bool build(const std::byte* distribution);
  __device__ std::uint16_t& at(unsigned symbol) { return starts[symbol][lane_of_thread()]; }
  __device__ unsigned start_of(unsigned symbol) const {
    return symbol < kShippedSymbols ? starts[symbol][lane_of_thread()] : kTableSlots;
  }

 private:
  // Frequencies that sum to 2^11, as to_frequencies() of tables.h makes them.
  __device__ void settle(int missing);
};

__device__ inline void ShippedStarts::measure(const std::int16_t* symbols, std::int64_t stride,
                                              unsigned rows, std::byte* distribution) {
  for (unsigned i = 0; i < kShippedSymbols; ++i) at(i) = 0;
  for (unsigned row = 0; row < rows; ++row)
    ++at(static_cast<unsigned>(symbols[row * stride] - kShippedFirst));
  unsigned below = 0;
  for (unsigned i = 0; i < kShippedSymbols; ++i) {
    store_u16(distribution + 2 * i, shipped_entry(below, rows, i));
    below += at(i);
  }
  store_u16(distribution + 2 * kShippedSymbols, 0);
}

__device__ inline void ShippedStarts::settle(int missing) {
  while (missing != 0) {
    unsigned largest = 0;
    for (unsigned i = 1; i < kShippedSymbols; ++i) {
      if (at(i) > at(largest)) largest = i;
    }
    const int most = 1 - static_cast<int>(at(largest));
    const int change = missing > most ? missing : most;
    at(largest) = static_cast<std::uint16_t>(at(largest) + change);
    missing -= change;
  }
}

__device__ inline bool ShippedStarts::build(const std::byte* distribution) {
  const auto entry = [&](unsigned i) { return static_cast<int>(load_u16(distribution + 2 * i)); };
  if (entry(0) != 0 || entry(kShippedSymbols) != 0) return false;
  const auto share_of = [&](unsigned i) {
    return (i + 1 == kShippedSymbols ? 65536 : entry(i + 1)) - entry(i);
  };
  unsigned total = 0;
  for (unsigned i = 0; i < kShippedSymbols; ++i) {
    const int share = share_of(i);
    if (share < 0) return false;
    if (share > 1) total += static_cast<unsigned>(share);
  }
  if (total == 0) return false;
  int missing = static_cast<int>(kTableSlots);
  for (unsigned i = 0; i < kShippedSymbols; ++i) {
    const int share = share_of(i);
    unsigned frequency = 0;
    if (share > 1) {
      frequency = (2 * static_cast<unsigned>(share) * kTableSlots + total) / (2 * total);
      if (frequency == 0) frequency = 1;
    }
    at(i) = static_cast<std::uint16_t>(frequency);
    missing -= static_cast<int>(frequency);
  }
  settle(missing);
  unsigned start = 0;
  for (unsigned i = 0; i < kShippedSymbols; ++i) {
    const unsigned frequency = at(i);
    at(i) = static_cast<std::uint16_t>(start);
    start += frequency;
  }
  return true;
}

// The slot at a place, found by halving: the last symbol that starts there or before.
struct ShippedLookup {
  const ShippedStarts& starts;
  __device__ Slot operator()(std::uint32_t place) const {
    unsigned symbol = 0;
    for (unsigned half = kShippedSymbols / 2; half > 0; half /= 2) {
      if (starts.start_of(symbol + half) <= place) symbol += half;
    }
    const unsigned start = starts.start_of(symbol);
    return pack_slot(kShippedFirst + static_cast<std::int32_t>(symbol),
                     starts.start_of(symbol + 1) - start, place - start);
  }
};

}  // namespace sluice::entropy
