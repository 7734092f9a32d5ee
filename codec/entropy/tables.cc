#include "codec/entropy/tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>

#include "base/assert.h"

namespace sluice::entropy {
namespace {

#include "codec/entropy/class_tables.inc"

// Where the grid has no table of its own: the nearest kind that has one.
std::int32_t substitute(std::int32_t kind, const bool (&own)[kNumKinds]) {
  if (own[kind]) return kind;
  const std::int32_t shape_start = kind / 4 * 4;
  if (kind < 16 && own[shape_start]) return shape_start;  // fractional means of wide tables
  return 0;  // narrow oscillations and wide one-sided tables
}

ClassFamily build_family() {
  ClassFamily family{};
  std::vector<std::uint16_t> frequencies;
  for (std::size_t at = 0; at < std::size(kTables);) {
    const std::int16_t scale = kTables[at], kind = kTables[at + 1];
    const std::int16_t first = kTables[at + 2], size = kTables[at + 3];
    frequencies.assign(kTables + at + 4, kTables + at + 4 + size);
    at += 4 + static_cast<std::size_t>(size);
    family.own[scale][kind] = true;
    family.place[scale][kind] = static_cast<std::int32_t>(family.tables.size());
    family.tables.emplace_back(first, frequencies);
  }
  for (std::int32_t scale = 0; scale < kNumScales; ++scale) {
    family.sigma[scale] = kScales[scale] / 65536.0;
    for (std::int32_t kind = 0; kind < kNumKinds; ++kind) {
      family.place[scale][kind] = family.place[scale][substitute(kind, family.own[scale])];
    }
  }
  return family;
}

}  // namespace

CodingTable::CodingTable(std::int32_t first, std::span<const std::uint16_t> frequencies)
    : first_(first), symbols_(frequencies.size()) {
  slots_.reserve(kTableSlots);
  const std::uint32_t largest = *std::max_element(frequencies.begin(), frequencies.end());
  cost_outside_ = kExceptionCost + frequency_cost(largest);
  mode_ =
      first + static_cast<std::int32_t>(std::find(frequencies.begin(), frequencies.end(), largest) -
                                        frequencies.begin());
  costs_.assign(frequencies.size(), cost_outside_);
  std::int64_t weighted = 0;
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const std::uint32_t frequency = frequencies[i];
    if (frequency == 0) continue;
    const std::int32_t symbol = first + static_cast<std::int32_t>(i);
    symbols_[i] = {reciprocal_of(frequency), frequency, static_cast<std::uint32_t>(slots_.size())};
    costs_[i] = frequency_cost(frequency);
    for (std::uint32_t k = 0; k < frequency; ++k) slots_.push_back(pack_slot(symbol, frequency, k));
    weighted += std::int64_t{symbol} * frequency;
  }
  SLUICE_ASSERT(slots_.size() == kTableSlots, "the frequencies of a table sum to 2^11");
  mean_ = static_cast<double>(weighted) / kTableSlots;
}

std::int32_t frequency_cost(std::uint32_t frequency) {
  static const std::vector<std::int32_t> costs = [] {
    std::vector<std::int32_t> all(kTableSlots + 1);
    for (std::uint32_t f = 1; f <= kTableSlots; ++f) {
      all[f] = static_cast<std::int32_t>(std::lround((kTableBits - std::log2(f)) * kCostPerBit));
    }
    return all;
  }();
  return costs[frequency];
}

std::vector<std::uint16_t> to_frequencies(std::span<const std::int64_t> counts) {
  const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  std::vector<std::int64_t> scaled(counts.size());
  std::transform(counts.begin(), counts.end(), scaled.begin(), [&](std::int64_t count) {
    if (count == 0) return std::int64_t{0};
    return std::max(std::int64_t{1}, (2 * count * kTableSlots + total) / (2 * total));
  });
  // The largest takes the difference; again when it would fall below 1.
  std::int64_t missing =
      kTableSlots - std::accumulate(scaled.begin(), scaled.end(), std::int64_t{0});
  while (missing != 0) {
    const auto largest = std::max_element(scaled.begin(), scaled.end());
    const std::int64_t change = std::max(missing, 1 - *largest);
    *largest += change;
    missing -= change;
  }
  return {scaled.begin(), scaled.end()};
}

const ClassFamily& class_family() {
  static const ClassFamily family = build_family();
  return family;
}

const CodingTable& kind_table() {
  // Measured on two captures of SmolLM2-135M; a kind's share hardly depends on the text.
  static constexpr std::array<std::uint16_t, kNumKinds> kFrequencies = {
      409, 50, 286, 50, 363, 59, 262, 66, 224, 34, 24, 31, 134, 12, 17, 14, 7, 6};
  static const CodingTable table(0, kFrequencies);
  return table;
}

}  // namespace sluice::entropy
