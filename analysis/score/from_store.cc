#include "analysis/score/from_store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analysis/score/policy_names.h"

namespace sluice {
namespace {

using GroupKey =
    std::tuple<std::string, std::string, std::string, std::uint64_t>;  // one ScoreInput
using PolicyKey = std::tuple<std::string, std::string, std::string>;

GroupKey group_of(const RunRow& run) {
  return {run.scenario, run.scenario_sha256, run.tier, run.seed};
}
PolicyKey policy_of(const RunRow& run) {
  return {run.policy.name, run.policy.params, run.policy.version};
}

// The runs of one scenario, tier and seed.
struct Group {
  std::map<PolicyKey, std::vector<const RunRow*>> done;
  std::int64_t num_unfinished = 0;
  std::int64_t num_invalid = 0;  // emulated on a host that did not keep up
};

// replicate -> cluster. Replicates on the same trace are one cluster when there are several traces;
// else each is its own.
std::map<std::int64_t, std::int64_t> clusters_of(const Group& group) {
  std::map<std::int64_t, std::string> trace_of;  // [replicate]
  for (const auto& [policy, runs] : group.done) {
    for (const RunRow* run : runs) {
      trace_of[run->replicate] = run->link_trace ? run->link_trace->sha256 : "";
    }
  }
  std::map<std::string, std::int64_t> first_on;  // [trace] -> lowest replicate on it
  for (const auto& [replicate, trace] : trace_of) first_on.emplace(trace, replicate);
  std::map<std::int64_t, std::int64_t> clusters;
  for (const auto& [replicate, trace] : trace_of) {
    clusters[replicate] = first_on.size() > 1 ? first_on[trace] : replicate;
  }
  return clusters;
}

// Do the replicates differ only in where they begin on one trace?
bool is_one_trace(const Group& group) {
  std::set<std::string> traces;
  std::set<std::int64_t> offsets;
  for (const auto& [policy, runs] : group.done) {
    for (const RunRow* run : runs) {
      if (!run->link_trace) return false;
      traces.insert(run->link_trace->sha256);
      offsets.insert(to_ns(run->link_trace_offset));
    }
  }
  return traces.size() == 1 && offsets.size() > 1;
}

std::string profile_text(const std::vector<const RunRow*>& runs) {
  std::set<std::string> profiles;
  for (const RunRow* run : runs) {
    for (const ProfileFacts& profile : run->profiles) {
      profiles.insert(fmt::format("{} ({})", profile.name, profile.source));
    }
  }
  return fmt::format("{}", fmt::join(profiles, ", "));
}

// Two versions of one policy need different names.
std::string name_in(const Group& group, const PolicyFacts& policy) {
  const auto versions = std::count_if(group.done.begin(), group.done.end(), [&](const auto& entry) {
    return std::get<0>(entry.first) == policy.name && std::get<1>(entry.first) == policy.params;
  });
  const std::string name = display_name(policy);
  return versions > 1 ? fmt::format("{} (version {})", name, policy.version) : name;
}

ScoredLoad scored(const LoadRow& row, std::int64_t cluster) {
  ScoredLoad load;
  load.cluster = cluster;
  load.replicate = row.replicate;
  load.load = row.index;
  load.violated = row.violated;
  if (row.outcome == LoadOutcome::kCompleted) {
    load.ttft = row.ttft;
    load.quality = row.quality;
  }
  load.bytes_moved = row.bytes_moved;
  load.tokens = row.context_tokens;
  load.recomputed_tokens = row.recomputed_tokens;
  load.peak_memory = row.peak_memory;
  return load;
}

void count_levels(const LoadRow& row, const std::vector<std::string>& levels,
                  std::map<std::string, std::int64_t>& tokens_by_level) {
  std::int64_t missing = row.context_tokens - row.recomputed_tokens;
  for (const LevelCount& count : row.levels) {
    tokens_by_level[levels[static_cast<std::size_t>(count.level)]] += count.num_tokens;
    missing -= count.num_tokens;
  }
  if (row.recomputed_tokens > 0) tokens_by_level["recompute"] += row.recomputed_tokens;
  if (missing > 0) tokens_by_level["none"] += missing;
}

PolicyInput policy_without_loads(const Group& group, const std::vector<const RunRow*>& runs) {
  PolicyInput policy;
  policy.policy = name_in(group, runs.front()->policy);
  policy.profile = profile_text(runs);
  for (const RunRow* run : runs) {
    policy.runs.push_back({.simulated_time = run->metrics.simulated_time,
                           .gpu_busy_fraction = run->metrics.gpu_busy_fraction,
                           .link_utilisation = run->metrics.link_utilisation,
                           .stored_per_context = run->metrics.stored_per_context});
  }
  return policy;
}

ScoreInput input_without_loads(const GroupKey& key, const Group& group) {
  ScoreInput input;
  std::tie(input.scenario, input.scenario_sha256, input.tier, input.seed) = key;
  for (const auto& [policy, runs] : group.done)
    input.policies.push_back(policy_without_loads(group, runs));
  if (group.num_unfinished > 0) {
    input.notes.push_back(
        fmt::format("{} runs are not done and left out; the command that began them resumes them",
                    group.num_unfinished));
  }
  if (group.num_invalid > 0) {
    input.notes.push_back(
        fmt::format("{} emulated runs are left out: the host did not keep up", group.num_invalid));
  }
  if (is_one_trace(group)) {
    input.notes.push_back(
        "all replicates are windows of one link trace, which may overlap: intervals take the "
        "windows "
        "as independent");
  }
  return input;
}

using Groups = std::map<GroupKey, Group>;

bool is_selected(const RunRow& run, const ScoreSelection& selection) {
  return (!selection.seed || run.seed == *selection.seed) &&
         (!selection.num_replicates || run.replicate < *selection.num_replicates) &&
         (!selection.only_replicate || run.replicate == *selection.only_replicate);
}

Groups group_runs(const std::vector<RunRow>& runs, const ScoreSelection& selection) {
  Groups groups;
  for (const RunRow& run : runs) {
    if (!is_selected(run, selection)) continue;
    Group& group = groups[group_of(run)];
    if (run.done && run.metrics.health && !run.metrics.health->is_valid()) {
      ++group.num_invalid;
    } else if (run.done) {
      group.done[policy_of(run)].push_back(&run);
    } else {
      ++group.num_unfinished;
    }
  }
  std::erase_if(groups, [](const auto& entry) { return entry.second.done.empty(); });
  return groups;
}

// Where the loads of one run go.
struct Destination {
  std::size_t input = 0, policy = 0;
  std::int64_t cluster = 0;
};

std::map<RunId, Destination> destinations_in(const Groups& groups) {
  std::map<RunId, Destination> destinations;
  std::size_t input = 0;
  for (const auto& [key, group] : groups) {
    const auto clusters = clusters_of(group);
    std::size_t policy = 0;
    for (const auto& [name, runs] : group.done) {
      for (const RunRow* run : runs)
        destinations[run->id] = {input, policy, clusters.at(run->replicate)};
      ++policy;
    }
    ++input;
  }
  return destinations;
}

}  // namespace

Result<std::vector<ScoreInput>> read_score_inputs(const Store& store, RunFilter filter,
                                                  const ScoreSelection& selection) {
  filter.done_only = false;
  const auto runs = store.read_runs(filter);
  if (!runs) return runs.error();
  filter.done_only = true;
  const auto table = store.read_loads(filter);
  if (!table) return table.error();

  const Groups groups = group_runs(*runs, selection);
  std::vector<ScoreInput> inputs;
  for (const auto& [key, group] : groups) inputs.push_back(input_without_loads(key, group));
  const auto destinations = destinations_in(groups);
  for (const LoadRow& row : table->loads) {
    const auto found = destinations.find(row.run);
    if (found == destinations.end())
      continue;  // not selected, or finished since the runs were read
    PolicyInput& policy = inputs[found->second.input].policies[found->second.policy];
    policy.loads.push_back(scored(row, found->second.cluster));
    count_levels(row, table->levels, policy.tokens_by_level);
  }
  for (ScoreInput& input : inputs) {
    if (const Status kept = keep_policies(selection.policies, input); !kept) return kept.error();
  }
  return inputs;
}

std::string display_name(const PolicyFacts& policy) {
  return policy.params.empty() ? policy.name : fmt::format("{}:{}", policy.name, policy.params);
}

}  // namespace sluice
