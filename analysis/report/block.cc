#include "analysis/report/block.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/score/from_store.h"
#include "analysis/score/policy_names.h"
#include "analysis/store/database.h"

namespace sluice {
namespace {

bool belongs(const RunRow& run, const Score& score) {
  return run.scenario == score.scenario && run.scenario_sha256 == score.scenario_sha256 &&
         run.tier == score.tier && run.seed == score.seed;
}

// The score tells versions of one policy apart only where there are several.
bool is_run_of(const RunRow& run, const std::string& policy) {
  const std::string name = display_name(run.policy);
  return policy == name || policy == fmt::format("{} (version {})", name, run.policy.version);
}

std::vector<std::vector<RunRow>> runs_by_policy(const Score& score,
                                                const std::vector<RunRow>& all) {
  std::vector<std::vector<RunRow>> runs(score.policies.size());
  for (const RunRow& run : all) {
    if (!belongs(run, score)) continue;
    for (std::size_t p = 0; p < runs.size(); ++p) {
      if (is_run_of(run, score.policies[p].policy)) runs[p].push_back(run);
    }
  }
  return runs;
}

std::vector<PolicyTimes> times_of(const ScoreInput& input) {
  std::vector<PolicyTimes> times;
  for (const PolicyInput& policy : input.policies) {
    PolicyTimes& one = times.emplace_back();
    one.num_loads = static_cast<std::int64_t>(policy.loads.size());
    for (const ScoredLoad& load : policy.loads) {
      if (load.ttft) one.finished.push_back(*load.ttft);
    }
    std::sort(one.finished.begin(), one.finished.end());
  }
  return times;
}

std::set<std::string> levels_used(const ScoreInput& input) {
  std::set<std::string> levels;
  for (const PolicyInput& policy : input.policies) {
    for (const auto& [level, tokens] : policy.tokens_by_level) levels.insert(level);
  }
  return levels;
}

// All policies met the same loads, so the runs of one of them tell.
Result<std::vector<Duration>> read_slos(Store& store,
                                        const std::vector<std::vector<RunRow>>& runs) {
  std::set<Duration> slos;
  if (!runs.empty()) {
    for (const RunRow& run : runs.front()) {
      const auto table = store.read_loads({.run = run.id});
      if (!table) return table.error();
      for (const LoadRow& load : table->loads) slos.insert(load.slo);
    }
  }
  return std::vector<Duration>(slos.begin(), slos.end());
}

Result<std::vector<CampaignFacts>> read_campaigns(Store& store,
                                                  const std::vector<std::vector<RunRow>>& runs) {
  std::set<CampaignId> ids;
  for (const auto& of_policy : runs) {
    for (const RunRow& run : of_policy) ids.insert(run.campaign);
  }
  std::vector<CampaignFacts> campaigns;
  for (const CampaignId id : ids) {
    auto facts = store.read_campaign(id);
    if (!facts) return facts.error();
    campaigns.push_back(std::move(*facts));
  }
  return campaigns;
}

// The load that the reader named, if one of these runs holds it.
std::optional<LoadChoice> named_load(const std::vector<std::vector<RunRow>>& runs,
                                     const LoadName& name) {
  for (const auto& of_policy : runs) {
    for (const RunRow& run : of_policy) {
      if (run.id == name.run && name.index >= 0 && name.index < run.num_loads) {
        return LoadChoice{run.replicate, name.index};
      }
    }
  }
  return std::nullopt;
}

Result<ShownLoad> read_load(Store& store, const ReportBlock& block, LoadChoice which) {
  ShownLoad shown{.which = which};
  for (std::size_t p = 0; p < block.runs.size(); ++p) {
    for (const RunRow& run : block.runs[p]) {
      if (run.replicate != which.replicate) continue;
      auto records = store.read_records(run.id);
      if (!records) return records.error();
      const auto found =
          std::find_if(records->begin(), records->end(),
                       [&](const LoadRecord& load) { return load.index == which.index; });
      if (found != records->end()) shown.timelines.push_back({p, run.id, std::move(*found)});
    }
  }
  return shown;
}

Result<ReportBlock> read_block(Store& store, ScoreInput input, const std::vector<RunRow>& all_runs,
                               const ReportOptions& options) {
  ScoreOptions score_options{.baseline = {}, .delta = options.delta};
  if (options.baseline) {
    const auto baseline = find_policy(*options.baseline, policy_names(input), "--baseline");
    if (!baseline) return baseline.error();
    score_options.baseline = *baseline;
  }
  auto scored = score(input, score_options);
  if (!scored) return scored.error();
  auto scenario = store.read_scenario(input.scenario_sha256);
  if (!scenario) return scenario.error();
  LevelScheme levels(scenario->canonical, levels_used(input));
  ReportBlock block{.scenario = std::move(*scenario),
                    .score = std::move(*scored),
                    .levels = std::move(levels),
                    .times = times_of(input),
                    .runs = {},
                    .slos = {},
                    .campaigns = {},
                    .load = {}};
  block.runs = runs_by_policy(block.score, all_runs);
  auto slos = read_slos(store, block.runs);
  if (!slos) return slos.error();
  block.slos = std::move(*slos);
  auto campaigns = read_campaigns(store, block.runs);
  if (!campaigns) return campaigns.error();
  block.campaigns = std::move(*campaigns);
  std::optional<LoadChoice> named;
  if (options.load) named = named_load(block.runs, *options.load);
  if (const auto which = named ? named : choose_load(input)) {
    auto load = read_load(store, block, *which);
    if (!load) return load.error();
    load->chosen_by_reader = named.has_value();
    block.load = std::move(*load);
  }
  return block;
}

bool shows_load_asked_for(const std::vector<ReportBlock>& blocks) {
  return std::any_of(blocks.begin(), blocks.end(), [](const ReportBlock& block) {
    return block.load && block.load->chosen_by_reader;
  });
}

std::string what_was_asked(const ReportOptions& options) {
  std::string words;
  if (options.scenario) words += fmt::format(" of scenario `{}`", *options.scenario);
  if (options.scenario_sha256)
    words += fmt::format(" of scenario {}", options.scenario_sha256->substr(0, 12));
  if (options.tier) words += fmt::format(" on tier `{}`", *options.tier);
  return words;
}

}  // namespace

Result<std::vector<ReportBlock>> read_blocks(Store& store, const ReportOptions& options) {
  const RunFilter filter{.scenario = options.scenario,
                         .scenario_sha256 = options.scenario_sha256,
                         .tier = options.tier};
  auto inputs = read_score_inputs(store, filter);
  if (!inputs) return inputs.error();
  const std::string& file = store.database().file();
  if (inputs->empty()) {
    return error_in(
        file, fmt::format("holds no finished run{}", what_was_asked(options)),
        "`./sluice store list` shows what it holds; `./sluice sim SCENARIO --store` adds runs");
  }
  const auto runs = store.read_runs(filter);
  if (!runs) return runs.error();
  std::vector<ReportBlock> blocks;
  for (ScoreInput& input : *inputs) {
    auto block = read_block(store, std::move(input), *runs, options);
    if (!block) return block.error();
    blocks.push_back(std::move(*block));
  }
  if (options.load && !shows_load_asked_for(blocks)) {
    return error_in("--load",
                    fmt::format("no run {} with a load {} is among those shown",
                                options.load->run.value, options.load->index),
                    "`./sluice store list` shows the runs; loads count from 0");
  }
  return blocks;
}

}  // namespace sluice
