#include "analysis/report/load_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

namespace sluice {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// One load over all policies.
struct Outcomes {
  std::int64_t num_late = 0;
  std::vector<double> ttft_s;  // kNever where no first token came
  // 0 when the policies split evenly, or by one over an odd number.
  [[nodiscard]] std::int64_t unevenness() const {
    return std::abs(2 * num_late - static_cast<std::int64_t>(ttft_s.size())) / 2;
  }
};

double lower_median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double distance(double a, double b) {
  return a == b ? 0 : std::abs(a - b);
}  // two nevers are equal

}  // namespace

std::optional<LoadChoice> choose_load(const ScoreInput& input) {
  std::map<LoadChoice, Outcomes> loads;
  for (const PolicyInput& policy : input.policies) {
    for (const ScoredLoad& load : policy.loads) {
      Outcomes& outcomes = loads[{load.replicate, load.load}];
      outcomes.num_late += load.violated ? 1 : 0;
      outcomes.ttft_s.push_back(load.ttft ? to_seconds(*load.ttft) : kNever);
    }
  }
  if (loads.empty()) return std::nullopt;
  std::vector<double> medians;
  for (const auto& [name, outcomes] : loads) medians.push_back(lower_median(outcomes.ttft_s));
  const double typical = lower_median(medians);
  std::optional<LoadChoice> best;
  std::tuple<std::int64_t, double> best_rank;
  std::size_t i = 0;
  for (const auto& [name, outcomes] : loads) {
    const std::tuple rank{outcomes.unevenness(), distance(medians[i++], typical)};
    if (best && !(rank < best_rank)) continue;
    best = name;
    best_rank = rank;
  }
  return best;
}

}  // namespace sluice
