// The family of plane model 4: normal to very peaked tables on a grid of scales, each with an
// escape at both ends. Where in the flow: for transform coefficients, many of which are narrower
// than a step; both sides hold it, a column names a place of it. peaked_tables.inc is the norm.
#pragma once

#include <cstdint>
#include <vector>

#include "codec/entropy/kernel.h"
#include "codec/entropy/model_search.h"
#include "codec/entropy/tables.h"

namespace sluice::entropy {

// Scale i > 0 means a standard deviation of 0.03 * 2^(i/4) steps; a column of scale 0 is constant,
// whatever its rows' shifts.
inline constexpr std::int32_t kNumPeakedScales = 46;
// Kinds are 4 * shape + phase: exponents 2, 1.3, 1, 0.7; means of 0, 1/4, 1/2, -1/4 steps.
inline constexpr std::int32_t kNumPeakedKinds = 16;
inline constexpr std::int32_t kNumPeakedShapes = kNumPeakedKinds / kNumPhases;
[[nodiscard]] SLUICE_HOST_DEVICE constexpr std::int32_t peaked_scale(std::int32_t scale,
                                                                     std::int32_t shift) {
  const std::int32_t sum = scale + shift;
  if (scale == 0) return 0;
  return sum < 1 ? 1 : sum < kNumPeakedScales ? sum : kNumPeakedScales - 1;
}

// Costs of symbols relative to the centre, from here on; those beyond either end cost as it does.
inline constexpr std::int32_t kPeakedCostFirst = -512;
inline constexpr std::int32_t kPeakedCostSpan = 1024;

struct PeakedFamily {
  [[nodiscard]] int table(std::int32_t scale, std::int32_t kind) const {
    return place[scale][kind];
  }
  // In 1/256 bit, escapes and their excess included.
  [[nodiscard]] const std::int16_t* costs(int table) const {
    return &costs_[static_cast<std::size_t>(table) * kPeakedCostSpan];
  }

  TableSet tables;
  int kind_table = 0;
  std::int32_t place[kNumPeakedScales][kNumPeakedKinds];
  bool own[kNumPeakedScales][kNumPeakedKinds];  // not a stand-in without the fractional mean
  std::int32_t kind_costs[kNumPeakedKinds];
  // [table] the escapes: the first and the last symbol. Of a constant column, out of reach.
  std::vector<std::int16_t> lows, highs;
  std::vector<std::int32_t> pair_loss;  // [table] of a pair against two symbols, expected
  std::vector<std::int16_t> costs_;     // [table][kPeakedCostSpan]
};

// Built at the first call.
[[nodiscard]] const PeakedFamily& peaked_family();

}  // namespace sluice::entropy
