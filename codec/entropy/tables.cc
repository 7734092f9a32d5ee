#include "codec/entropy/tables.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>

#include "base/assert.h"

namespace sluice::entropy {
namespace {

// A pair's claim on one slot more, or on keeping its last one: its share over 2 * frequency +- 1.
struct Claim {
  std::uint32_t share;  // of the two frequencies: their product
  std::uint32_t divisor;
  std::size_t place;
};
bool is_smaller(const Claim& a, const Claim& b) {
  const std::uint64_t left = std::uint64_t{a.share} * b.divisor;
  const std::uint64_t right = std::uint64_t{b.share} * a.divisor;
  return left != right ? left < right : a.place > b.place;  // of equals the first claims most
}
// Of equals the first gives first.
bool gives_later(const Claim& a, const Claim& b) {
  const std::uint64_t left = std::uint64_t{a.share} * b.divisor;
  const std::uint64_t right = std::uint64_t{b.share} * a.divisor;
  return left != right ? left > right : a.place > b.place;
}

// Moves frequencies by `step` (1 or -1) where it costs least until they sum to kTableSlots.
template <typename Order>
void settle(const std::vector<std::uint32_t>& shares, std::vector<std::uint16_t>& frequencies,
            std::int64_t missing, int step, Order order) {
  std::priority_queue<Claim, std::vector<Claim>, Order> claims(order);
  const auto claim = [&](std::size_t place) {
    const std::uint32_t frequency = frequencies[place];
    if (shares[place] == 0 || (step < 0 && frequency == 1)) return;
    claims.push({shares[place], 2 * frequency + static_cast<std::uint32_t>(step), place});
  };
  for (std::size_t place = 0; place < shares.size(); ++place) claim(place);
  for (; missing > 0; --missing) {
    const std::size_t place = claims.top().place;
    claims.pop();
    frequencies[place] = static_cast<std::uint16_t>(frequencies[place] + step);
    claim(place);
  }
}

}  // namespace

std::int32_t Frequencies::mode() const {
  return first +
         static_cast<std::int32_t>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

double Frequencies::mean() const {
  std::int64_t weighted = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    weighted += (first + static_cast<std::int64_t>(i)) * counts[i];
  }
  return static_cast<double>(weighted) / kTableSlots;
}

std::vector<std::uint16_t> pair_frequencies(const Frequencies& table) {
  constexpr std::size_t kPairs = std::size_t{kPairSpan} * kPairSpan;
  std::vector<std::uint32_t> shares(kPairs);
  std::vector<std::uint16_t> frequencies(kPairs);
  std::int64_t sum = 0;
  for (std::size_t s = 0; s < table.counts.size(); ++s) {
    for (std::size_t t = 0; t < table.counts.size(); ++t) {
      const std::uint32_t share = std::uint32_t{table.counts[s]} * table.counts[t];
      if (share == 0) continue;
      const auto first = static_cast<std::size_t>(table.first - kPairFirst);
      const std::size_t place = kPairSpan * (first + s) + first + t;
      shares[place] = share;
      frequencies[place] =
          static_cast<std::uint16_t>(std::max(1U, (share + kTableSlots / 2) >> kTableBits));
      sum += frequencies[place];
    }
  }
  if (sum > kTableSlots) {
    settle(shares, frequencies, sum - kTableSlots, -1, gives_later);
  } else {
    settle(shares, frequencies, kTableSlots - sum, 1, is_smaller);
  }
  return frequencies;
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

TableSet::TableSet() {
  const int identity = add({.first = 0, .counts = {static_cast<std::uint16_t>(kTableSlots)}});
  Entry& entry = tables_[static_cast<std::size_t>(identity)];
  entry.pair_slots = entry.slots;
  entry.pair_symbols = entry.symbols;
}

template <typename SymbolAt>
void TableSet::add_faces(std::span<const std::uint16_t> counts, SymbolAt symbol_at) {
  std::uint32_t start = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const std::uint32_t frequency = counts[i];
    symbols_.push_back(frequency == 0 ? EncodingSymbol{} : encoding_symbol(frequency, start));
    for (std::uint32_t k = 0; k < frequency; ++k) {
      slots_.push_back(pack_slot(symbol_at(static_cast<std::int32_t>(i)), frequency, k));
    }
    start += frequency;
  }
  SLUICE_ASSERT(start == kTableSlots, "the frequencies of a table sum to 2^11");
}

int TableSet::add(const Frequencies& table) {
  tables_.push_back({.frequencies = table,
                     .slots = static_cast<std::int32_t>(slots_.size()),
                     .symbols = static_cast<std::int32_t>(symbols_.size()) - table.first});
  add_faces(table.counts, [&](std::int32_t i) { return table.first + i; });
  return size() - 1;
}

int TableSet::add_with_pairs(const Frequencies& table) {
  const int number = add(table);
  if (table.first < kPairFirst || table.last() >= kPairFirst + kPairSpan) return number;
  Entry& entry = tables_.back();
  entry.pair_slots = static_cast<std::int32_t>(slots_.size());
  entry.pair_symbols =
      static_cast<std::int32_t>(symbols_.size()) - kPairSpan * kPairFirst - kPairFirst;
  add_faces(pair_frequencies(table), [](std::int32_t place) {
    const std::int32_t first = kPairFirst + place / kPairSpan;
    const std::int32_t second = kPairFirst + place % kPairSpan;
    return first * kPairSpan + (second & (kPairSpan - 1));
  });
  return number;
}

}  // namespace sluice::entropy
