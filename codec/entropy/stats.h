// What coding cost, and what it could have cost.
#pragma once

#include <cstdint>
#include <span>

namespace sluice::entropy {

// A matrix of symbols, row by row: one column per channel, one row per token.
struct SymbolMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::span<const std::int16_t> symbols;  // [row, column]
};

struct EntropyStats {
  std::int64_t elements = 0;
  std::int64_t coded_bytes = 0;   // all of the plane
  std::int64_t symbol_bytes = 0;  // of them, refill words of the symbols
  double order0_bits = 0;         // of the symbols under the distribution of their own column

  EntropyStats& operator+=(const EntropyStats& other);
  // Headers, tables, column models, exceptions, lane states, padding.
  [[nodiscard]] std::int64_t side_bytes() const { return coded_bytes - symbol_bytes; }
  // Coded bits over the order-0 entropy, as a share of it.
  [[nodiscard]] double overhead_fraction() const;
};

// Sum over the columns of rows * H(column), in bits: the entropy of the empirical distribution. It
// is biased low, by about (symbols used - 1) / (2 rows ln 2) bit per symbol.
[[nodiscard]] double order0_bits(const SymbolMatrix& matrix);

}  // namespace sluice::entropy
