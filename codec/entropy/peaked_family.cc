#include "codec/entropy/peaked_family.h"

#include <iterator>

#include "codec/entropy/excess.h"
#include "codec/entropy/table_costs.h"

namespace sluice::entropy {
namespace {

#include "codec/entropy/peaked_tables.inc"

// Per shape alike; most means are nearly 0.
constexpr std::uint16_t kPhaseFrequencies[kNumPhases] = {320, 64, 64, 64};

// In 1/256 bit, of symbols first - 1, first - 2, … or last + 1, …, to the escape at that end.
std::int32_t escape_cost(std::uint32_t frequency, std::int32_t excess) {
  return table_cost(frequency) + kCostPerBit * kExcessDigitBits * excess_digits(excess);
}

void add_costs(PeakedFamily& family, const Frequencies& table) {
  for (std::int32_t i = 0; i < kPeakedCostSpan; ++i) {
    const std::int32_t symbol = kPeakedCostFirst + i;
    const std::int32_t cost =
        symbol <= table.first ? escape_cost(table.counts.front(), table.first - symbol)
        : symbol >= table.last()
            ? escape_cost(table.counts.back(), symbol - table.last())
            : table_cost(table.counts[static_cast<std::size_t>(symbol - table.first)]);
    family.costs_.push_back(static_cast<std::int16_t>(cost));
  }
}

// Table 0 of the set, of constant columns.
void add_constant(PeakedFamily& family) {
  family.lows.push_back(INT16_MIN);
  family.highs.push_back(INT16_MAX);
  family.pair_loss.push_back(0);
  family.costs_.resize(kPeakedCostSpan);
}

int add_table(PeakedFamily& family, const Frequencies& table) {
  const int number = family.tables.add_with_pairs(table);
  family.lows.push_back(static_cast<std::int16_t>(table.first));
  family.highs.push_back(static_cast<std::int16_t>(table.last()));
  family.pair_loss.push_back(family.tables.has_pairs(number) ? expected_pair_loss(table) : 0);
  add_costs(family, table);
  return number;
}

PeakedFamily build_family() {
  PeakedFamily family{};
  add_constant(family);
  for (std::size_t at = 0; at < std::size(kTables);) {
    const std::int16_t scale = kTables[at], kind = kTables[at + 1];
    const auto size = static_cast<std::size_t>(kTables[at + 3]);
    const auto* const counts = kTables + at + 4;
    family.own[scale][kind] = true;
    family.place[scale][kind] =
        add_table(family, {.first = kTables[at + 2], .counts = {counts, counts + size}});
    at += 4 + size;
  }
  for (std::int32_t scale = 1; scale < kNumPeakedScales; ++scale) {
    for (std::int32_t kind = 0; kind < kNumPeakedKinds; ++kind) {
      if (!family.own[scale][kind]) {
        family.place[scale][kind] = family.place[scale][kind / kNumPhases * kNumPhases];
      }
    }
  }
  Frequencies kinds{.first = 0, .counts = {}};
  for (std::int32_t kind = 0; kind < kNumPeakedKinds; ++kind) {
    const std::uint16_t frequency = kPhaseFrequencies[kind % kNumPhases];
    kinds.counts.push_back(frequency);
    family.kind_costs[kind] = table_cost(frequency);
  }
  family.kind_table = family.tables.add(kinds);
  return family;
}

}  // namespace

const PeakedFamily& peaked_family() {
  static const PeakedFamily family = build_family();
  return family;
}

}  // namespace sluice::entropy
