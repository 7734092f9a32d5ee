#include "codec/lossless/column_classes.h"

#include <algorithm>
#include <cmath>

namespace sluice::lossless {
namespace {

using Costs = std::array<std::int16_t, kNumSymbols>;
using Sums = std::array<std::int64_t, kNumSymbols>;

constexpr std::int32_t kCostPerBit = 64;
constexpr std::int16_t kExceptionCost = 33 * kCostPerBit;  // its place, its value, its stand-in
// A table slot costs all others more than this many exceptions save: 1.44 / 2^11 bits per element
// against 21 bits.
constexpr std::int64_t kRareElements = 30'000;
constexpr int kRefinements = 2;

std::int16_t cost_of(std::uint32_t frequency) {
  return static_cast<std::int16_t>(
      std::lround((entropy::kTableBits - std::log2(frequency)) * kCostPerBit));
}

// A table of a class's counts; symbols too rare to earn a slot are left out.
entropy::Frequencies table_of(const Sums& sums) {
  std::int64_t total = 0;
  for (const std::int64_t sum : sums) total += sum;
  std::vector<std::int64_t> kept(sums.begin(), sums.end());
  for (std::int64_t& sum : kept) sum = sum * kRareElements < total ? 0 : sum;
  const auto is_kept = [](std::int64_t sum) { return sum > 0; };
  const auto first = std::find_if(kept.begin(), kept.end(), is_kept);
  if (first == kept.end()) return {.first = 0, .counts = {entropy::kTableSlots}};
  const auto last = std::find_if(kept.rbegin(), kept.rend(), is_kept).base();
  return {.first = kFirstSymbol + static_cast<std::int32_t>(first - kept.begin()),
          .counts = entropy::to_frequencies(std::vector<std::int64_t>(first, last))};
}

Costs costs_of(const entropy::Frequencies& table) {
  Costs costs;
  for (std::int32_t i = 0; i < kNumSymbols; ++i) {
    const std::int32_t symbol = kFirstSymbol + i;
    costs[static_cast<std::size_t>(i)] =
        table.has(symbol) ? cost_of(table.counts[static_cast<std::size_t>(symbol - table.first)])
                          : kExceptionCost;
  }
  return costs;
}

void add(Sums& sums, const Histogram& column, std::int64_t times = 1) {
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += times * column.counts[i];
}

// Classes grow one by one, each from the channel that the others serve worst.
class Fit {
 public:
  Fit(std::span<const Histogram> columns, const entropy::Kernels& kernels)
      : columns_(columns), kernels_(kernels), class_(columns.size()), cost_(columns.size()) {
    Sums all{};
    for (const Histogram& column : columns) {
      add(all, column);
      Sums own{};
      add(own, column);
      own_cost_.push_back(weigh(column, costs_of(table_of(own))));
    }
    costs_.push_back(costs_of(table_of(all)));
    assign_all();
  }

  [[nodiscard]] std::size_t num_classes() const { return costs_.size(); }

  // From the worst served channel, smoothed: its class shall draw its like.
  void grow() {
    std::size_t worst = 0;
    for (std::size_t i = 1; i < columns_.size(); ++i) {
      if (cost_[i] - own_cost_[i] > cost_[worst] - own_cost_[worst]) worst = i;
    }
    Sums seed;
    seed.fill(1);
    add(seed, columns_[worst], 16);
    costs_.push_back(costs_of(table_of(seed)));
    for (std::size_t i = 0; i < columns_.size(); ++i) take_if_cheaper(i, num_classes() - 1);
  }

  // Tables from their channels, channels to their best tables.
  void refine() {
    const auto sums = class_sums();
    for (std::size_t k = 0; k < costs_.size(); ++k) costs_[k] = costs_of(table_of(sums[k]));
    assign_all();
  }

  [[nodiscard]] std::int64_t total_cost() const {
    std::int64_t total = 0;
    for (const std::int32_t cost : cost_) total += cost;
    return total;
  }

  // Classes that lost all their channels are left out.
  [[nodiscard]] ColumnClasses result() const {
    ColumnClasses result;
    const auto sums = class_sums();
    std::vector<std::uint8_t> number(costs_.size());
    for (std::size_t k = 0; k < costs_.size(); ++k) {
      if (std::find(class_.begin(), class_.end(), k) == class_.end()) continue;
      number[k] = static_cast<std::uint8_t>(result.tables.size());
      result.tables.push_back(table_of(sums[k]));
    }
    for (const std::size_t k : class_) result.table_of_column.push_back(number[k]);
    return result;
  }

 private:
  [[nodiscard]] std::int32_t weigh(const Histogram& column, const Costs& costs) const {
    return kernels_.weigh(column.counts.data(), costs.data(), kNumSymbols);
  }
  void take_if_cheaper(std::size_t column, std::size_t k) {
    const std::int32_t cost = weigh(columns_[column], costs_[k]);
    if (cost >= cost_[column]) return;
    cost_[column] = cost;
    class_[column] = k;
  }
  void assign_all() {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      cost_[i] = weigh(columns_[i], costs_[0]);
      class_[i] = 0;
      for (std::size_t k = 1; k < costs_.size(); ++k) take_if_cheaper(i, k);
    }
  }
  [[nodiscard]] std::vector<Sums> class_sums() const {
    std::vector<Sums> sums(costs_.size(), Sums{});
    for (std::size_t i = 0; i < columns_.size(); ++i) add(sums[class_[i]], columns_[i]);
    return sums;
  }

  std::span<const Histogram> columns_;
  const entropy::Kernels& kernels_;
  std::vector<std::size_t> class_;      // [column]
  std::vector<std::int32_t> cost_;      // [column] under its class, in 1 / kCostPerBit bits
  std::vector<std::int32_t> own_cost_;  // [column] under a table of its own
  std::vector<Costs> costs_;            // [class]
};

// Bits of the tables and of the channels' class numbers.
double side_bits(const ColumnClasses& classes) {
  double bits = 0;
  for (const auto& table : classes.tables)
    bits += 8.0 * static_cast<double>(2 + table.counts.size());
  return bits +
         static_cast<double>(classes.table_of_column.size()) * class_bits(classes.tables.size());
}

}  // namespace

ColumnClasses fit_classes(std::span<const Histogram> columns, double weight,
                          const entropy::Kernels& kernels) {
  Fit fit(columns, kernels);
  ColumnClasses best = fit.result();
  const auto bits_of = [&](const ColumnClasses& classes) {
    return weight * static_cast<double>(fit.total_cost()) / kCostPerBit + side_bits(classes);
  };
  double best_bits = bits_of(best);
  for (std::size_t wanted = 2; wanted <= kMaxTables && wanted <= 2 * columns.size(); wanted *= 2) {
    while (fit.num_classes() < wanted) fit.grow();
    for (int i = 0; i < kRefinements; ++i) fit.refine();
    ColumnClasses classes = fit.result();
    const double bits = bits_of(classes);
    if (bits >= best_bits) continue;
    best = std::move(classes);
    best_bits = bits;
  }
  return best;
}

}  // namespace sluice::lossless
