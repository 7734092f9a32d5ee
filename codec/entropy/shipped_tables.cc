#include "codec/entropy/shipped_tables.h"

#include <algorithm>

namespace sluice::entropy {
namespace {

constexpr std::int64_t kOne = 65536;

}  // namespace

ShippedDistribution measure_distribution(const std::int16_t* symbols, std::int64_t stride,
                                         std::int64_t rows) {
  std::array<std::int64_t, kShippedSymbols> counts{};
  for (std::int64_t row = 0; row < rows; ++row) {
    ++counts[static_cast<std::size_t>(symbols[row * stride] - kShippedFirst)];
  }
  ShippedDistribution distribution{};
  std::int64_t below = 0;
  for (std::size_t i = 0; i < kShippedSymbols; ++i) {
    distribution[i] =
        shipped_entry(static_cast<std::uint32_t>(below), static_cast<std::uint32_t>(rows),
                      static_cast<std::uint32_t>(i));
    below += counts[i];
  }
  return distribution;
}

std::optional<Frequencies> to_table(const ShippedDistribution& distribution) {
  std::array<std::int64_t, kShippedSymbols> counts{};
  if (distribution.front() != 0 || distribution.back() != 0) return std::nullopt;
  for (std::size_t i = 0; i < kShippedSymbols; ++i) {
    const std::int64_t end = i + 1 == kShippedSymbols ? kOne : distribution[i + 1];
    const std::int64_t share = end - distribution[i];
    if (share < 0) return std::nullopt;
    counts[i] = share > 1 ? share : 0;
  }
  if (std::all_of(counts.begin(), counts.end(), [](std::int64_t count) { return count == 0; })) {
    return std::nullopt;
  }
  return Frequencies{.first = kShippedFirst, .counts = to_frequencies(counts)};
}

}  // namespace sluice::entropy
