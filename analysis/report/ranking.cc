#include "analysis/report/ranking.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sluice {
namespace {

Verdict turned(Verdict verdict) {
  switch (verdict) {
    case Verdict::kBetter:
      return Verdict::kWorse;
    case Verdict::kWorse:
      return Verdict::kBetter;
    case Verdict::kEquivalent:
    case Verdict::kUndecided:
      break;
  }
  return verdict;
}

PairScore turned(PairScore pair) {
  std::swap(pair.a, pair.b);
  std::swap(pair.counts.only_a, pair.counts.only_b);
  pair.difference = 0.0 - pair.difference;
  pair.interval = {0.0 - pair.interval.high, 0.0 - pair.interval.low};
  pair.verdict = turned(pair.verdict);
  return pair;
}

}  // namespace

std::vector<std::size_t> ranked(const Score& score) {
  std::vector<std::size_t> order(score.policies.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return score.policies[a].violation_rate.value_or(2) <
           score.policies[b].violation_rate.value_or(2);
  });
  return order;
}

std::string reference_policy(const Score& score) {
  if (score.options.baseline) return *score.options.baseline;
  return score.policies[ranked(score).front()].policy;
}

std::vector<PairScore> pairs_against(const Score& score, const std::string& reference) {
  std::vector<PairScore> pairs;
  for (const std::size_t index : ranked(score)) {
    const std::string& policy = score.policies[index].policy;
    for (const PairScore& pair : score.pairs) {
      if (pair.a == policy && pair.b == reference) pairs.push_back(pair);
      if (pair.b == policy && pair.a == reference) pairs.push_back(turned(pair));
    }
  }
  return pairs;
}

}  // namespace sluice
