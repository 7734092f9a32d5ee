#include "codec/entropy/column_models.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace sluice::entropy {
namespace {

// Centres stay where a symbol relative to them fits 16 bits.
constexpr std::int32_t kMaxCentre = 32767 - 512;

struct SymbolCount {
  std::int32_t symbol;
  std::int64_t count;
};

// A column's histogram, most frequent symbols first, and its moments.
struct ColumnCounts {
  std::vector<SymbolCount> used;
  double sigma = 0;
  // Without the lowest and the highest 1/32 of the symbols: outliers are exceptions.
  double inner_mean = 0;
  double inner_sigma = 0;
};

// Mean and standard deviation of a histogram in increasing order, without the `trimmed` lowest and
// the `trimmed` highest symbols.
struct Moments {
  double mean = 0;
  double sigma = 0;
};
Moments moments(const std::vector<SymbolCount>& counts, std::int64_t rows, std::int64_t trimmed) {
  std::int64_t below = 0, sum = 0, sum_of_squares = 0;
  for (const auto& [symbol, count] : counts) {
    const std::int64_t kept = std::max<std::int64_t>(
        0, std::min(below + count, rows - trimmed) - std::max(below, trimmed));
    below += count;
    sum += symbol * kept;
    sum_of_squares += std::int64_t{symbol} * symbol * kept;
  }
  const auto kept = static_cast<double>(rows - 2 * trimmed);
  const double mean = static_cast<double>(sum) / kept;
  const double variance = static_cast<double>(sum_of_squares) / kept - mean * mean;
  return {mean, std::sqrt(std::max(0.0, variance))};
}

class Histogram {
 public:
  ColumnCounts of_column(const SymbolMatrix& tile, std::int64_t column) {
    std::int32_t low = std::numeric_limits<std::int16_t>::max();
    std::int32_t high = std::numeric_limits<std::int16_t>::min();
    for (std::int64_t row = 0; row < tile.rows; ++row) {
      const std::int32_t symbol =
          tile.symbols[static_cast<std::size_t>(row * tile.columns + column)];
      ++counts_[static_cast<std::size_t>(symbol + kOffset)];
      low = std::min(low, symbol);
      high = std::max(high, symbol);
    }
    ColumnCounts result;
    for (std::int32_t symbol = low; symbol <= high; ++symbol) {
      const std::int64_t count =
          std::exchange(counts_[static_cast<std::size_t>(symbol + kOffset)], 0);
      if (count > 0) result.used.push_back({symbol, count});
    }
    const Moments inner = moments(result.used, tile.rows, tile.rows / 32);
    result.inner_mean = inner.mean;
    result.inner_sigma = inner.sigma;
    result.sigma = moments(result.used, tile.rows, 0).sigma;
    std::stable_sort(result.used.begin(), result.used.end(),
                     [](const SymbolCount& a, const SymbolCount& b) { return a.count > b.count; });
    return result;
  }

 private:
  static constexpr std::int32_t kOffset = 32768;
  std::vector<std::int64_t> counts_ = std::vector<std::int64_t>(65536);
};

// Gives up above `bound`.
std::int64_t cost_of(const ColumnCounts& counts, const CodingTable& table, std::int32_t centre,
                     std::int64_t bound) {
  std::int64_t cost = 0;
  for (const SymbolCount& entry : counts.used) {
    cost += entry.count * table.cost(entry.symbol - centre);
    if (cost > bound) break;
  }
  return cost;
}

// The widest scale that is not above sigma.
std::int32_t scale_near(double sigma) {
  const auto& sigmas = class_family().sigma;
  const auto above = std::upper_bound(std::begin(sigmas), std::end(sigmas), sigma);
  return static_cast<std::int32_t>(std::max<std::ptrdiff_t>(1, above - std::begin(sigmas)) - 1);
}

// A model and what it costs without its scale and centre fields.
struct Candidate {
  ColumnModel model;
  std::int64_t cost;
};

// Fields of a nearly best model never cost this much more than those of the best.
constexpr std::int64_t kFieldSlack = std::int64_t{10} * kCostPerBit;

// Models of one column that can become the best once the fields' costs are known.
std::vector<Candidate> find_candidates(const ColumnCounts& counts) {
  const ClassFamily& family = class_family();
  const std::int32_t first = std::max(0, scale_near(counts.inner_sigma) - 2);
  const std::int32_t last = std::min(kNumScales - 1, scale_near(counts.sigma) + 2);
  std::vector<Candidate> candidates;
  std::int64_t bound = std::numeric_limits<std::int64_t>::max();
  for (std::int32_t scale = first; scale <= last; ++scale) {
    for (std::int32_t kind = 0; kind < kNumKinds; ++kind) {
      if (!family.is_own(scale, kind)) continue;
      const CodingTable& table = family.table(scale, kind);
      const auto below = static_cast<std::int32_t>(std::floor(counts.inner_mean - table.mean()));
      for (const std::int32_t place : {below, below + 1}) {
        const std::int32_t centre = std::clamp(place, -kMaxCentre, kMaxCentre);
        const std::int64_t cost = kind_table().cost(kind) + cost_of(counts, table, centre, bound);
        if (cost > bound) continue;
        candidates.push_back({{static_cast<std::int16_t>(scale), static_cast<std::int16_t>(kind),
                               static_cast<std::int16_t>(centre)},
                              cost});
        bound = std::min(bound, cost + kFieldSlack);
      }
    }
  }
  std::erase_if(candidates, [&](const Candidate& candidate) { return candidate.cost > bound; });
  return candidates;
}

template <typename Cost>
ColumnModel cheapest(const std::vector<Candidate>& candidates, const Cost& cost) {
  return std::min_element(candidates.begin(), candidates.end(),
                          [&](const Candidate& a, const Candidate& b) { return cost(a) < cost(b); })
      ->model;
}

// The scale of the table of `kind` that codes `values` around `base` in the fewest bits, among
// those that have all of them; nothing when none has.
std::optional<std::int16_t> fit_table(const std::vector<std::int32_t>& values, std::int32_t base,
                                      std::int32_t kind) {
  std::optional<std::int16_t> best;
  std::int64_t best_cost = 0;
  for (std::int32_t scale = 0; scale < kNumScales; ++scale) {
    const CodingTable& table = class_family().table(scale, kind);
    std::int64_t cost = 0;
    bool has_all = true;
    for (const std::int32_t value : values) {
      has_all = has_all && table.has(value - base);
      cost += table.cost(value - base);
    }
    if (has_all && (!best || cost < best_cost)) {
      best = static_cast<std::int16_t>(scale);
      best_cost = cost;
    }
  }
  return best;
}

std::int32_t rounded_mean(const std::vector<std::int32_t>& values) {
  double sum = 0;
  for (const std::int32_t value : values) sum += value;
  return static_cast<std::int32_t>(std::floor(sum / static_cast<double>(values.size()) + 0.5));
}

// Fits the fields' tables; centres too far from the others for any table move nearer.
FieldModel fit_fields(std::vector<ColumnModel>& columns) {
  std::vector<std::int32_t> scales, centres;
  for (const ColumnModel& column : columns) {
    scales.push_back(column.scale);
    centres.push_back(column.centre);
  }
  FieldModel fields;
  fields.scale_base = static_cast<std::int16_t>(rounded_mean(scales));
  fields.scale_table =
      fit_table(scales, fields.scale_base, kFieldScaleKind).value_or(kNumScales - 1);
  const std::int32_t base = rounded_mean(centres);
  fields.centre_base = static_cast<std::int16_t>(base);
  const auto fitting = fit_table(centres, base, kFieldCentreKind);
  fields.centre_table = fitting.value_or(kNumScales - 1);
  if (!fitting) {
    const CodingTable& widest = fields.centres();
    for (ColumnModel& column : columns) {
      column.centre = static_cast<std::int16_t>(
          std::clamp<std::int32_t>(column.centre, base + widest.first(), base + widest.last()));
    }
  }
  return fields;
}

}  // namespace

TileModels choose_models(const SymbolMatrix& tile) {
  Histogram histogram;
  std::vector<std::vector<Candidate>> candidates;
  TileModels models;
  for (std::int64_t column = 0; column < tile.columns; ++column) {
    candidates.push_back(find_candidates(histogram.of_column(tile, column)));
    models.columns.push_back(
        cheapest(candidates.back(), [](const Candidate& candidate) { return candidate.cost; }));
  }
  models.fields = fit_fields(models.columns);
  for (std::size_t column = 0; column < candidates.size(); ++column) {
    models.columns[column] = cheapest(candidates[column], [&](const Candidate& candidate) {
      return candidate.cost + models.fields.place_cost(candidate.model);
    });
  }
  models.fields = fit_fields(models.columns);
  return models;
}

}  // namespace sluice::entropy
