// The fixed family of tables: a grid of scales (standard deviation 0.12 * 2^(i/4) steps) and kinds
// (shape and fractional mean), and what their symbols cost.
// Where in the flow: the default probability model; both sides hold it, a column names a place of
// it. Surprise: costs are integers, so that an encoder chooses the same tables on every host.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/entropy/model_search.h"
#include "codec/entropy/tables.h"

namespace sluice::entropy {

struct ClassFamily {
  // The table's number in `tables`; total over the grid.
  [[nodiscard]] int table(std::int32_t scale, std::int32_t kind) const {
    return place[scale][kind];
  }
  // Of the symbols kCostFirst, … around the centre: -log2 of the frequency's share; of a symbol
  // that the table lacks, that of the mode and an exception.
  [[nodiscard]] const std::int16_t* costs(int table) const {
    return &costs_[static_cast<std::size_t>(table) * kCostSpan];
  }

  // Valid as long as the family.
  [[nodiscard]] FamilyFacts facts() const {
    return {.costs = costs_.data(),
            .kind_costs = costs(kind_table) - kCostFirst,
            .means = means.data(),
            .flatness = flatness.data(),
            .firsts = firsts.data(),
            .lasts = lasts.data(),
            .sigma = sigma,
            .place = &place[0][0],
            .own = &own[0][0]};
  }

  TableSet tables;
  int kind_table = 0;  // how kinds are coded: frequencies fixed in spec.md, section 6
  std::int32_t place[kNumScales][kNumKinds];
  bool own[kNumScales][kNumKinds];  // the place has a table of its own; encoders use only those
  double sigma[kNumScales];
  std::vector<std::int16_t> firsts, lasts;  // [table]
  std::vector<double> means;                // [table]
  std::vector<double> flatness;             // [table] mean distance from the mean over sigma
  std::vector<std::int32_t> pair_loss;      // [table] of a pair against two symbols, expected
  std::vector<std::int16_t> costs_;         // [table][kCostSpan]
};

// Built at the first call.
[[nodiscard]] const ClassFamily& class_family();

}  // namespace sluice::entropy
