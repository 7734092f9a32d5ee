#include "sim/cli/campaign.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "analysis/store/store.h"
#include "sim/cli/workers.h"
#include "sim/scenario/ladder.h"

namespace sluice {
namespace {

// What the store calls the inputs of a campaign.
struct Registered {
  CampaignId campaign;
  ScenarioId scenario;
  std::vector<PolicyId> policies;  // as in Scenario::policies
  std::vector<ProfileId> profiles;
};

// What follows the id in the canonical name: only what differs from the defaults, which the version
// pins.
std::string parameters_text(const PolicySpec& policy) {
  const std::string name = policy.name();
  return name.size() > policy.entry->id.size() ? name.substr(policy.entry->id.size() + 1) : "";
}

Result<Registered> register_inputs(Store& store, const Scenario& s,
                                   const CampaignOptions& options) {
  Registered ids;
  const auto campaign = store.add_campaign({.command = options.command,
                                            .scenario_argument = options.scenario_argument,
                                            .link_trace_file = options.link_trace_file,
                                            .num_replicates = s.replicates,
                                            .started_at = wall_now(),
                                            .build = this_build(),
                                            .host = this_host()});
  if (!campaign) return campaign.error();
  ids.campaign = *campaign;
  const auto scenario =
      store.add_scenario({.name = s.title(), .canonical = s.canonical, .question = s.question});
  if (!scenario) return scenario.error();
  ids.scenario = *scenario;
  for (const PolicySpec& policy : s.policies) {
    const auto id = store.add_policy({.name = policy.entry->id,
                                      .version = std::to_string(policy.entry->version),
                                      .params = parameters_text(policy)});
    if (!id) return id.error();
    ids.policies.push_back(*id);
  }
  const ProfileFacts facts[] = {
      {s.ladder.id, s.ladder.sha256, s.ladder.model, s.ladder.device, s.ladder_words},
      {s.device.id, s.device.sha256, s.model.id, s.device.name, describe_device(s.device)},
  };
  for (const ProfileFacts& profile : facts) {
    const auto id = store.add_profile(profile);
    if (!id) return id.error();
    ids.profiles.push_back(*id);
  }
  return ids;
}

// Replicate by replicate, so that a campaign that is cut short has compared all policies on the
// same loads.
std::vector<RunKey> wanted_runs(const Scenario& s, const Registered& ids,
                                const CampaignOptions& options) {
  std::vector<RunKey> keys;
  const std::int64_t first = options.only_replicate.value_or(0);
  const std::int64_t end = options.only_replicate ? first + 1 : s.replicates;
  for (const std::string& tier : s.tiers) {
    for (std::int64_t replicate = first; replicate < end; ++replicate) {
      for (const PolicyId policy : ids.policies)
        keys.push_back({ids.scenario, policy, replicate, tier, s.seed});
    }
  }
  return keys;
}

const PolicySpec& policy_of(const Scenario& s, const Registered& ids, PolicyId id) {
  const auto found = std::find(ids.policies.begin(), ids.policies.end(), id);
  return s.policies[static_cast<std::size_t>(found - ids.policies.begin())];
}

Status make_run(Store& store, const Scenario& s, const Registered& ids,
                const CampaignOptions& options, const RunKey& key) {
  const Result<Claim> claim = store.claim(key, ids.campaign);
  if (!claim) return claim.error();
  if (*claim != Claim::kOurs) return {};
  const PolicySpec& policy = policy_of(s, ids, key.policy);
  const Result<RunOutcome> run = options.make_run
                                     ? options.make_run(policy, key.replicate, key.tier)
                                     : run_replicate(s, policy, key.replicate, key.tier);
  if (!run) {
    (void)store.release(key);
    return run.error();
  }
  const auto trace = store.add_link_trace(facts_of(run->trace));
  if (!trace) return trace.error();
  const RunInputs inputs{
      .link_trace = *trace, .link_trace_offset = run->trace_offset, .profiles = ids.profiles};
  const auto written = store.write_run(key, inputs, run->metrics, run->loads);
  return written ? Status{} : Status{written.error()};
}

// Those that the store does not hold yet.
Result<std::vector<RunKey>> still_missing(const CampaignOptions& options,
                                          std::span<const RunKey> wanted) {
  Result<Store> store = Store::open(options.store);
  if (!store) return store.error();
  return store->missing_runs(wanted);
}

Status make_runs(const Scenario& s, const Registered& ids, const CampaignOptions& options,
                 std::span<const RunKey> missing) {
  return run_workers(options.jobs, missing.size(), [&](WorkQueue& queue) -> Status {
    Result<Store> store = Store::open(options.store);
    if (!store) return store.error();
    while (const auto index = queue.next()) {
      if (Status made = make_run(*store, s, ids, options, missing[*index]); !made) return made;
    }
    return {};
  });
}

// SQLite connections must not cross a fork: this one closes before the workers start.
Result<Registered> open_and_register(const Scenario& s, const CampaignOptions& options) {
  Result<Store> store = Store::open(options.store);
  if (!store) return store.error();
  return register_inputs(*store, s, options);
}

}  // namespace

Result<CampaignSummary> run_campaign(const Scenario& s, const CampaignOptions& options) {
  const Result<Registered> ids = open_and_register(s, options);
  if (!ids) return ids.error();
  const std::vector<RunKey> wanted = wanted_runs(s, *ids, options);
  Result<std::vector<RunKey>> missing = still_missing(options, wanted);
  if (!missing) return missing.error();
  const CampaignSummary summary{
      .num_runs = static_cast<std::int64_t>(wanted.size()),
      .num_reused = static_cast<std::int64_t>(wanted.size() - missing->size())};
  while (!missing->empty()) {
    if (Status made = make_runs(s, *ids, options, *missing); !made) return made.error();
    missing = still_missing(options, wanted);
    if (!missing) return missing.error();
    // Another command works on the same store: wait for its runs, or take them over should it die.
    if (!missing->empty()) std::this_thread::sleep_for(std::chrono::milliseconds{200});
  }
  return summary;
}

}  // namespace sluice
