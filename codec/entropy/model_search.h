// The table of a column: a search around its moments, with the costs of real frequencies.
// Where in the flow: the encoder's choice, one column at a time; every backend, CUDA included, runs
// these functions, so all write the same bytes.
// Surprise: any choice is a valid stream. Doubles are exact but for one division, one root and a
// product or two, which IEEE 754 rounds alike everywhere.
#pragma once

#include <cmath>
#include <cstdint>

#include "codec/entropy/column_counts.h"
#include "codec/host_device.h"

namespace sluice::entropy {

inline constexpr std::int32_t kNumScales = 38;
inline constexpr std::int32_t kNumKinds = 18;
// Kinds are 4 * shape + phase (the fractional mean), and the two one-sided ones.
inline constexpr std::int32_t kNumPhases = 4, kFirstOneSided = 16;

// Costs in 1/256 bit.
inline constexpr std::int32_t kCostPerBit = 256;
// A symbol that its column's table lacks is listed with its place: 16 bits each.
inline constexpr std::int32_t kExceptionCost = 32 * kCostPerBit;
// Cost rows cover these symbols around the centre.
inline constexpr std::int32_t kCostFirst = -128;
inline constexpr std::int32_t kCostSpan = 256;

// Centres stay where a symbol relative to them fits 16 bits.
inline constexpr std::int32_t kMaxCentre = 32767 - 512;

// What the search reads of the class family, by plain pointers.
struct FamilyFacts {
  const std::int16_t* costs = nullptr;       // [table][kCostSpan]
  const std::int16_t* kind_costs = nullptr;  // [kind]
  const double* means = nullptr;             // [table]
  const double* flatness = nullptr;          // [table]
  const std::int16_t* firsts = nullptr;      // [table] its first symbol
  const std::int16_t* lasts = nullptr;       // [table] its last symbol
  const double* sigma = nullptr;             // [scale], increasing
  const std::int32_t* place = nullptr;       // [scale][kind]: the table's number
  const bool* own = nullptr;                 // [scale][kind]: it has a table of its own
};

// A column's distribution: the family's table at (scale, kind), moved by `centre`. Coded as three
// symbols, in this order.
struct ColumnModel {
  std::int16_t scale = 0;
  std::int16_t kind = 0;
  std::int16_t centre = 0;
};

struct ChosenModel {
  ColumnModel model;
  std::int64_t cost = 0;  // of the column's symbols and its kind, in 1/256 bit
};

// Whether a group codes two rows per step: half the steps for at most 15 / 1000 of its bits, under
// 1 % of a plane. `loss` is what its columns' pairs cost more, `cost` what the columns cost.
[[nodiscard]] SLUICE_HOST_DEVICE inline bool pays_to_pair(std::int64_t rows, std::int64_t loss,
                                                          std::int64_t cost) {
  return rows >= 2 && loss * 1000 <= cost * 15;
}

// `Weigh` is called as weigh(counts, costs, span): sum of counts[i] * costs[i].
template <typename Weigh>
class ModelSearch {
 public:
  SLUICE_HOST_DEVICE ModelSearch(const ColumnCounts& column, const FamilyFacts& family, Weigh weigh)
      : column_(column),
        family_(family),
        weigh_(weigh),
        quarters_(static_cast<std::int32_t>(std::floor(kNumPhases * column.inner.mean))),
        floor_(static_cast<std::int32_t>(std::floor(column.inner.mean))) {}

  // The model with nearly the fewest bits for a column of `rows` rows.
  SLUICE_HOST_DEVICE ChosenModel run(std::int64_t rows) {
    if (column_.outside * kMaxOutside > rows) return by_moments(rows);
    find_scale();
    if (best_ == kNone) return by_moments(rows);
    const ColumnModel normal = unpack(best_).model;
    const std::int32_t middle = normal.scale;
    excess_ = column_.flatness - family_.flatness[table(middle, normal.kind)];
    is_one_sided_ = falls_from_an_end();
    const std::int32_t last = middle + 1 < kNumScales ? middle + 1 : middle;
    for (std::int32_t scale = middle > 0 ? middle - 1 : 0; scale <= last; ++scale) {
      try_other_shapes(scale);
    }
    return unpack(best_);
  }

 private:
  static constexpr std::int64_t kNone = INT64_MAX;
  // More rows outside the window than one in so many: the column is wide.
  static constexpr std::int64_t kMaxOutside = 16;
  // So near to a normal table's flatness both flatter and more peaked shapes are tried.
  static constexpr double kFlatnessMargin = 0.01;

  [[nodiscard]] SLUICE_HOST_DEVICE std::int32_t table(std::int32_t scale, std::int32_t kind) const {
    return family_.place[scale * kNumKinds + kind];
  }
  [[nodiscard]] SLUICE_HOST_DEVICE bool is_own(std::int32_t scale, std::int32_t kind) const {
    return family_.own[scale * kNumKinds + kind];
  }
  [[nodiscard]] SLUICE_HOST_DEVICE static std::int32_t limit(std::int32_t centre) {
    return centre < -kMaxCentre ? -kMaxCentre : centre > kMaxCentre ? kMaxCentre : centre;
  }

  // The widest scale that is not above sigma.
  [[nodiscard]] SLUICE_HOST_DEVICE std::int32_t scale_near(double sigma) const {
    std::int32_t low = 0, high = kNumScales;  // sigma of low <= sigma (or low is 0) < that of high
    while (high - low > 1) {
      const std::int32_t middle = (low + high) / 2;
      (family_.sigma[middle] <= sigma ? low : high) = middle;
    }
    return low;
  }

  // The normal table of a wide column: by its moments alone.
  [[nodiscard]] SLUICE_HOST_DEVICE ChosenModel by_moments(std::int64_t rows) const {
    const std::int32_t near = scale_near(column_.inner.sigma);
    const std::int32_t scale = near + 1 < kNumScales ? near + 1 : near;
    const auto centre = static_cast<std::int32_t>(std::floor(column_.inner.mean + 0.5));
    const ColumnModel model{static_cast<std::int16_t>(scale), 0,
                            static_cast<std::int16_t>(limit(centre))};
    return {model, rows * kTableBits * kCostPerBit};
  }

  // The histogram does not rise from one of its ends.
  [[nodiscard]] SLUICE_HOST_DEVICE bool falls_from_an_end() const {
    const std::int32_t low = column_.low - column_.start, high = column_.high - column_.start;
    const bool in_window = low >= 0 && high < kCostWindow && low < high;
    return in_window && (column_.counts[low] >= column_.counts[low + 1] ||
                         column_.counts[high] >= column_.counts[high - 1]);
  }

  // The normal tables from the widest that is not wider than the column on, as long as they get
  // better.
  SLUICE_HOST_DEVICE void find_scale() {
    const std::int32_t first = scale_near(column_.inner.sigma);
    try_shape(first, 0);
    std::int32_t scale = first + 1;
    while (scale < kNumScales && try_shape(scale, 0)) ++scale;
  }

  // Peaked shapes for columns that are more peaked than the best normal table, sines for flatter
  // ones, one-sided tables where the histogram falls from an end.
  SLUICE_HOST_DEVICE void try_other_shapes(std::int32_t scale) {
    if (excess_ < kFlatnessMargin) try_shape(scale, 1);
    if (excess_ > -kFlatnessMargin) {
      try_shape(scale, 2);
      try_shape(scale, 3);
    }
    for (std::int32_t kind = kFirstOneSided; is_one_sided_ && kind < kNumKinds; ++kind) {
      if (!is_own(scale, kind)) continue;
      const double place = std::floor(column_.inner.mean - family_.means[table(scale, kind)]);
      try_model(scale, kind, static_cast<std::int32_t>(place));
      try_model(scale, kind, static_cast<std::int32_t>(place) + 1);
    }
  }

  // At the quarters below and above the mean, or the integers where a wide table has no quarters.
  // False when neither is better than what there is.
  SLUICE_HOST_DEVICE bool try_shape(std::int32_t scale, std::int32_t shape) {
    const std::int32_t plain = shape * kNumPhases;
    if (!is_own(scale, plain)) return false;
    bool is_better = false;
    for (std::int32_t step = 0; step < 2; ++step) {
      const std::int32_t phase = (quarters_ + step) & (kNumPhases - 1);
      const std::int32_t whole = (quarters_ + step - phase) / kNumPhases;
      const bool has_phase = is_own(scale, plain + phase);
      // The last phase is the quarter before a whole.
      const std::int32_t centre =
          !has_phase ? floor_ + step : whole + (phase == kNumPhases - 1 ? 1 : 0);
      is_better |= try_model(scale, has_phase ? plain + phase : plain, centre);
    }
    return is_better;
  }

  SLUICE_HOST_DEVICE bool try_model(std::int32_t scale, std::int32_t kind, std::int32_t place) {
    const std::int32_t centre = limit(place);
    const std::int32_t first = column_.start - centre - kCostFirst;
    if (first < 0 || first > kCostSpan - kCostWindow) return false;
    const std::int16_t* const costs = family_.costs + table(scale, kind) * kCostSpan + first;
    const std::int64_t cost =
        family_.kind_costs[kind] + std::int64_t{weigh_(column_.counts, costs, column_.span)} +
        std::int64_t{column_.outside} * (kExceptionCost + kTableBits * kCostPerBit);
    const std::int64_t key = pack({scale, kind, centre}, cost);
    const bool is_better = key < best_;
    best_ = is_better ? key : best_;
    return is_better;
  }

  // Cost, turn and model in one number, so that the least is kept without a branch: of equal costs
  // the first tried. Costs are below 2^27 (2048 rows of an exception and a slot), turns below 2^7.
  struct Place {
    std::int32_t scale, kind, centre;
  };
  [[nodiscard]] SLUICE_HOST_DEVICE std::int64_t pack(Place place, std::int64_t cost) {
    const auto low = static_cast<std::uint16_t>(place.centre);
    return cost << 36 | std::int64_t{turn_++} << 28 | std::int64_t{place.scale} << 22 |
           std::int64_t{place.kind} << 16 | low;
  }
  [[nodiscard]] SLUICE_HOST_DEVICE static ChosenModel unpack(std::int64_t key) {
    return {{static_cast<std::int16_t>(key >> 22 & 0x3F),
             static_cast<std::int16_t>(key >> 16 & 0x3F), static_cast<std::int16_t>(key & 0xFFFF)},
            key >> 36};
  }

  const ColumnCounts& column_;
  const FamilyFacts& family_;
  Weigh weigh_;
  std::int32_t quarters_, floor_;  // of the inner mean
  double excess_ = 0;              // of the column's flatness over that of the best normal table
  bool is_one_sided_ = false;
  std::int32_t turn_ = 0;
  std::int64_t best_ = kNone;  // packed
};

}  // namespace sluice::entropy
