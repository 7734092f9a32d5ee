#include "sim/cli/outcome.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "analysis/score/from_store.h"
#include "analysis/score/verdict.h"

namespace sluice {
namespace {

// All pairs are in the JSON; people read those with the baseline, or with the policy that violates
// least.
Score pairs_to_read(Score score, const std::optional<std::string>& baseline) {
  if (baseline || score.policies.empty()) return score;
  const auto best = std::min_element(
      score.policies.begin(), score.policies.end(), [](const PolicyScore& a, const PolicyScore& b) {
        return a.violation_rate.value_or(1.0) < b.violation_rate.value_or(1.0);
      });
  std::erase_if(score.pairs, [&](const PairScore& pair) {
    return pair.a != best->policy && pair.b != best->policy;
  });
  return score;
}

}  // namespace

std::vector<std::string> names_of_policies(const Scenario& s) {
  std::vector<std::string> names;
  for (const PolicySpec& policy : s.policies) names.push_back(policy.name());
  return names;
}

Result<std::vector<Score>> score_campaign(const Scenario& s,
                                          const std::filesystem::path& store_file,
                                          const SimOptions& options) {
  const Result<Store> store = Store::open_to_read(store_file);
  if (!store) return store.error();
  ScoreSelection selection{
      .policies = names_of_policies(s), .seed = s.seed, .num_replicates = s.replicates};
  if (options.only_replicate) selection.num_replicates.reset();
  selection.only_replicate = options.only_replicate;
  std::vector<Score> scores;
  for (const std::string& tier : s.tiers) {
    RunFilter filter;
    filter.scenario_sha256 = s.sha256;
    filter.tier = tier;
    Result<std::vector<ScoreInput>> inputs = read_score_inputs(*store, filter, selection);
    if (!inputs) return inputs.error();
    for (ScoreInput& input : *inputs) {
      Result<Score> scored =
          score(std::move(input), {.baseline = options.baseline, .delta = s.delta});
      if (!scored) return scored.error();
      scores.push_back(std::move(*scored));
    }
  }
  return scores;
}

void print_verdict(const std::vector<Score>& scores, const std::filesystem::path& store,
                   const SimOptions& options) {
  print_as(options.format, verdict_table(scores), verdict_json(scores, store.string()), std::cout);
  std::cout.flush();
  for (const Score& s : scores) {
    std::cerr << '\n';
    if (scores.size() > 1) std::cerr << s.scenario << ", tier " << s.tier << '\n';
    for (const std::string& line : verdict_lines(pairs_to_read(s, options.baseline)))
      std::cerr << line << '\n';
    for (const std::string& note : s.notes) std::cerr << "note: " << note << '\n';
  }
}

}  // namespace sluice
