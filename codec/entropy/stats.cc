#include "codec/entropy/stats.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/units.h"

namespace sluice::entropy {

EntropyStats& EntropyStats::operator+=(const EntropyStats& other) {
  elements += other.elements;
  coded_bytes += other.coded_bytes;
  symbol_bytes += other.symbol_bytes;
  order0_bits += other.order0_bits;
  return *this;
}

double EntropyStats::overhead_fraction() const {
  return order0_bits > 0
             ? static_cast<double>(DataSize::bytes(coded_bytes).bits()) / order0_bits - 1
             : 0;
}

double order0_bits(const SymbolMatrix& matrix) {
  double bits = 0;
  std::vector<std::int64_t> counts(65536);  // of symbol + 32768
  for (std::int64_t column = 0; column < matrix.columns; ++column) {
    std::fill(counts.begin(), counts.end(), 0);
    for (std::int64_t row = 0; row < matrix.rows; ++row) {
      const std::int16_t symbol =
          matrix.symbols[static_cast<std::size_t>(row * matrix.columns + column)];
      ++counts[static_cast<std::size_t>(symbol + 32768)];
    }
    for (const std::int64_t count : counts) {
      if (count == 0) continue;
      const double share = static_cast<double>(count) / static_cast<double>(matrix.rows);
      bits -= static_cast<double>(count) * std::log2(share);
    }
  }
  return bits;
}

}  // namespace sluice::entropy
