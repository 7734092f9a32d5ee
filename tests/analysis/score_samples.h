// Inputs for scoring, made by hand: a policy from which of its loads violated.
#pragma once

#include <string>
#include <vector>

#include "analysis/score/score.h"

namespace sluice {

// [cluster][load]: did it violate? A load that does takes 2 s to the first token, the others 1 s.
using Outcomes = std::vector<std::vector<bool>>;

inline PolicyInput policy_with(std::string name, const Outcomes& outcomes) {
  PolicyInput policy;
  policy.policy = std::move(name);
  policy.profile = "by hand";
  for (std::size_t k = 0; k < outcomes.size(); ++k) {
    for (std::size_t i = 0; i < outcomes[k].size(); ++i) {
      ScoredLoad load;
      load.cluster = load.replicate = static_cast<std::int64_t>(k);
      load.load = static_cast<std::int64_t>(i);
      load.violated = outcomes[k][i];
      load.ttft = seconds_to_duration(load.violated ? 2 : 1);
      load.bytes_moved = DataSize::bytes(176'000'000);
      load.quality = 0.75;
      load.tokens = 1500;
      policy.loads.push_back(load);
    }
  }
  policy.tokens_by_level["int8@token"] = 1500 * static_cast<std::int64_t>(policy.loads.size());
  return policy;
}

// `violated` of the `loads` in each cluster, the first ones.
inline Outcomes first_violate(std::size_t clusters, std::size_t loads, std::size_t violated) {
  std::vector<bool> one(loads, false);
  for (std::size_t i = 0; i < violated; ++i) one[i] = true;
  return Outcomes(clusters, one);
}

inline ScoreInput input_of(std::vector<PolicyInput> policies) {
  ScoreInput input;
  input.scenario = "by-hand";
  input.tier = "fluid";
  input.policies = std::move(policies);
  return input;
}

}  // namespace sluice
