#include "codec/entropy/table_costs.h"

#include <cmath>

#include "codec/entropy/model_search.h"

namespace sluice::entropy {

std::int32_t table_cost(std::uint32_t frequency) {
  return static_cast<std::int32_t>(std::lround((kTableBits - std::log2(frequency)) * kCostPerBit));
}

std::int32_t expected_pair_loss(const Frequencies& table) {
  const auto pairs = pair_frequencies(table);
  double loss = 0;
  for (std::size_t place = 0; place < pairs.size(); ++place) {
    if (pairs[place] == 0) continue;
    const auto at = [&](std::size_t symbol) {
      return table.counts[symbol - static_cast<std::size_t>(table.first - kPairFirst)];
    };
    const double share = double{1} * at(place / kPairSpan) * at(place % kPairSpan);
    loss += share * std::log2(share / (double{1} * pairs[place] * kTableSlots));
  }
  return static_cast<std::int32_t>(
      std::lround(loss / (double{1} * kTableSlots * kTableSlots) * kCostPerBit));
}

}  // namespace sluice::entropy
