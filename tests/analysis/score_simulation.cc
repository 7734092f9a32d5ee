#include "tests/analysis/score_simulation.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/random.h"
#include "tests/analysis/score_samples.h"

namespace sluice {
namespace {

constexpr std::uint64_t kSeed = 20261129;
constexpr std::int64_t kResamples = 2000;

double draw_share(RandomStream& random, const Experiment& experiment) {
  return experiment.dependent ? 1 - std::pow(random.uniform(), 1 / experiment.b)
                              : experiment.truth();
}

Outcomes draw(RandomStream& random, const Experiment& experiment) {
  Outcomes outcomes(static_cast<std::size_t>(experiment.clusters));
  for (auto& window : outcomes) {
    const double share = draw_share(random, experiment);
    for (std::int64_t i = 0; i < experiment.loads; ++i) window.push_back(random.bernoulli(share));
  }
  return outcomes;
}

// [policy]; the policies differ by chance only, but for `extra`, which the last one violates
// besides.
std::vector<PolicyInput> draw_policies(RandomStream& random, Noise noise, std::size_t num_policies,
                                       double extra, const Experiment& experiment) {
  std::vector<Outcomes> outcomes(num_policies,
                                 Outcomes(static_cast<std::size_t>(experiment.clusters)));
  for (std::size_t k = 0; k < outcomes[0].size(); ++k) {
    const double shared = draw_share(random, experiment);
    for (std::size_t p = 0; p < num_policies; ++p) {
      const double share = noise == Noise::kPerLoad ? shared : draw_share(random, experiment);
      for (std::int64_t i = 0; i < experiment.loads; ++i) {
        const bool violated = random.bernoulli(share);
        const bool besides = random.bernoulli(p + 1 == num_policies ? extra : 0);
        outcomes[p][k].push_back(violated || besides);
      }
    }
  }
  std::vector<PolicyInput> policies;
  for (std::size_t p = 0; p < num_policies; ++p) {
    policies.push_back(policy_with("p" + std::to_string(p), outcomes[p]));
  }
  return policies;
}

Score scored(std::vector<PolicyInput> policies) {
  auto result = score(input_of(std::move(policies)), {.resamples = kResamples});
  if (!result) std::abort();  // made by hand: always paired
  return std::move(*result);
}

}  // namespace

Coverage coverage_of(const Experiment& experiment, std::int64_t repeats) {
  RandomStream random(kSeed, "coverage", static_cast<std::uint64_t>(experiment.clusters));
  std::int64_t published = 0, wilson = 0;
  for (std::int64_t i = 0; i < repeats; ++i) {
    const PolicyScore policy = scored({policy_with("a", draw(random, experiment))}).policies[0];
    published += policy.violation_interval.contains(experiment.truth());
    wilson += wilson_interval(policy.violations, policy.loads, 0.95).contains(experiment.truth());
  }
  const auto all = static_cast<double>(repeats);
  return {static_cast<double>(published) / all, static_cast<double>(wilson) / all};
}

Verdicts verdicts_of(Noise noise, double extra, std::int64_t clusters, std::int64_t repeats) {
  RandomStream random(kSeed, "a-against-b", static_cast<std::uint64_t>(noise));
  Verdicts verdicts;
  const double share = 1 / static_cast<double>(repeats);
  for (std::int64_t i = 0; i < repeats; ++i) {
    switch (
        scored(draw_policies(random, noise, 2, extra, {.clusters = clusters})).pairs[0].verdict) {
      case Verdict::kBetter:
        verdicts.better += share;
        break;
      case Verdict::kWorse:
        verdicts.worse += share;
        break;
      case Verdict::kEquivalent:
        verdicts.equivalent += share;
        break;
      case Verdict::kUndecided:
        verdicts.undecided += share;
        break;
    }
  }
  return verdicts;
}

double family_false_alarms(Noise noise, std::int64_t policies, std::int64_t clusters,
                           std::int64_t repeats) {
  RandomStream random(kSeed, "family", static_cast<std::uint64_t>(noise));
  std::int64_t alarms = 0;
  for (std::int64_t i = 0; i < repeats; ++i) {
    const Score result = scored(draw_policies(random, noise, static_cast<std::size_t>(policies), 0,
                                              {.clusters = clusters}));
    alarms += std::any_of(result.pairs.begin(), result.pairs.end(), [](const PairScore& pair) {
      return pair.verdict == Verdict::kBetter || pair.verdict == Verdict::kWorse;
    });
  }
  return static_cast<double>(alarms) / static_cast<double>(repeats);
}

}  // namespace sluice
