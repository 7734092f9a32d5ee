// A static arithmetic coder in the manner of torchac, the library that CacheGen's public code calls
// on a CPU: the peer that `codec bench` compares with.
// Where in the flow: tests only. 32-bit range, 16-bit cumulative frequencies, one distribution per
// column, bits shifted out one at a time (Witten, Neal and Cleary, "Arithmetic Coding for Data
// Compression", 1987).
// Surprise: as in torchac, distributions are given, not learnt: counting them is not in its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice::bench {

// Cumulative frequencies out of 2^16: of column c, symbol s holds
// [cumulative[c * (num_symbols + 1) + s], the next one), which is never empty.
struct ColumnFrequencies {
  std::int64_t num_columns = 0;
  int num_symbols = 0;
  std::vector<std::uint32_t> cumulative;
  [[nodiscard]] const std::uint32_t* column(std::int64_t c) const {
    return cumulative.data() + c * (num_symbols + 1);
  }
};

// From the matrix itself; symbols [row][column] are below num_symbols <= 256.
[[nodiscard]] ColumnFrequencies count_frequencies(std::span<const std::uint8_t> symbols,
                                                  std::int64_t num_columns, int num_symbols);

[[nodiscard]] std::vector<std::byte> arithmetic_encode(std::span<const std::uint8_t> symbols,
                                                       const ColumnFrequencies& frequencies);
// Fills `symbols`, as many as were encoded. Any bytes are safe.
void arithmetic_decode(std::span<const std::byte> bytes, const ColumnFrequencies& frequencies,
                       std::span<std::uint8_t> symbols);

}  // namespace sluice::bench
