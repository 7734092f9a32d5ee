#include "codec/entropy/class_family.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "codec/entropy/table_costs.h"

namespace sluice::entropy {
namespace {

#include "codec/entropy/class_tables.inc"

// Measured on two captures of SmolLM2-135M; a kind's share hardly depends on the text.
constexpr std::array<std::uint16_t, kNumKinds> kKindFrequencies = {
    409, 50, 286, 50, 363, 59, 262, 66, 224, 34, 24, 31, 134, 12, 17, 14, 7, 6};

// Where the grid has no table of its own: the nearest kind that has one.
std::int32_t substitute(std::int32_t kind, const bool (&own)[kNumKinds]) {
  if (own[kind]) return kind;
  const std::int32_t shape_start = kind / 4 * 4;
  if (kind < 16 && own[shape_start]) return shape_start;  // fractional means of wide tables
  return 0;  // narrow oscillations and wide one-sided tables
}

double flatness_of(const Frequencies& table) {
  double distances = 0, squares = 0;
  for (std::size_t i = 0; i < table.counts.size(); ++i) {
    const double distance = table.first + static_cast<double>(i) - table.mean();
    distances += table.counts[i] * std::fabs(distance);
    squares += table.counts[i] * distance * distance;
  }
  return squares > 0 ? distances / std::sqrt(squares * kTableSlots) : 0;
}

void add_costs(ClassFamily& family, const Frequencies& table) {
  const std::uint32_t largest = *std::max_element(table.counts.begin(), table.counts.end());
  const std::int32_t outside = kExceptionCost + table_cost(largest);
  for (std::int32_t symbol = kCostFirst; symbol < kCostFirst + kCostSpan; ++symbol) {
    const std::int32_t cost =
        table.has(symbol) ? table_cost(table.counts[static_cast<std::size_t>(symbol - table.first)])
                          : outside;
    family.costs_.push_back(static_cast<std::int16_t>(cost));
  }
}

int add_table(ClassFamily& family, const Frequencies& table) {
  const int number = family.tables.add_with_pairs(table);
  add_costs(family, table);
  family.firsts.push_back(static_cast<std::int16_t>(table.first));
  family.lasts.push_back(static_cast<std::int16_t>(table.last()));
  family.means.push_back(table.mean());
  family.flatness.push_back(flatness_of(table));
  family.pair_loss.push_back(family.tables.has_pairs(number) ? expected_pair_loss(table) : 0);
  return number;
}

ClassFamily build_family() {
  ClassFamily family{};
  family.firsts.push_back(0);  // of the identity table
  family.lasts.push_back(0);
  family.means.push_back(0);
  family.flatness.push_back(0);
  family.pair_loss.push_back(0);
  family.costs_.resize(kCostSpan);
  for (std::size_t at = 0; at < std::size(kTables);) {
    const std::int16_t scale = kTables[at], kind = kTables[at + 1];
    const auto size = static_cast<std::size_t>(kTables[at + 3]);
    const auto* const counts = kTables + at + 4;
    family.own[scale][kind] = true;
    family.place[scale][kind] =
        add_table(family, {.first = kTables[at + 2], .counts = {counts, counts + size}});
    at += 4 + size;
  }
  for (std::int32_t scale = 0; scale < kNumScales; ++scale) {
    family.sigma[scale] = kScales[scale] / 65536.0;
    for (std::int32_t kind = 0; kind < kNumKinds; ++kind) {
      family.place[scale][kind] = family.place[scale][substitute(kind, family.own[scale])];
    }
  }
  family.kind_table =
      add_table(family, {.first = 0, .counts = {kKindFrequencies.begin(), kKindFrequencies.end()}});
  return family;
}

}  // namespace

const ClassFamily& class_family() {
  static const ClassFamily family = build_family();
  return family;
}

}  // namespace sluice::entropy
