#include "analysis/store/merge.h"

#include <fmt/format.h>

#include <map>

#include "analysis/store/content_hash.h"
#include "analysis/store/database.h"
#include "analysis/store/store.h"

namespace sluice {
namespace {

// What a run's key is in every file.
using GlobalKey = std::tuple<std::string, std::string, std::string, std::string, std::string,
                             std::uint64_t, std::int64_t>;

GlobalKey global_key(const RunRow& run) {
  return {run.scenario_sha256, run.policy.name, run.policy.version,
          run.policy.params,   run.tier,        run.seed,
          run.replicate};
}

struct Seen {
  std::string hash;
  std::string file;
};
using SeenRuns = std::map<GlobalKey, Seen>;

// Adds the file's runs to `seen`; an error when one of them is there with other content.
Status compare_runs(const std::filesystem::path& file, SeenRuns& seen) {
  auto store = Store::open_to_read(file);
  if (!store) return store.error();
  const auto snapshot = Transaction::begin_reading(store->database());
  if (!snapshot) return snapshot.error();
  const auto runs = store->read_runs({});
  if (!runs) return runs.error();
  for (const RunRow& run : *runs) {
    const auto hash = run_hash(*store, run);
    if (!hash) return hash.error();
    const auto [known, is_new] = seen.try_emplace(global_key(run), Seen{*hash, file.string()});
    if (!is_new && known->second.hash != *hash) {
      return error_in(
          file.string(),
          fmt::format("{} differs from the one in {}", name_of(run), known->second.file),
          "`./sluice explain` shows the build and inputs of both; run it again with one build");
    }
  }
  return {};
}

// The campaigns, inputs and keys of one source, as ids of the target.
class Translator {
 public:
  Translator(Store& source, Store& target) : source_(&source), target_(&target) {}

  Result<RunKey> key(const RunRow& run) {
    const auto facts = source_->read_scenario(run.scenario_sha256);
    if (!facts) return facts.error();
    const auto scenario = target_->add_scenario(*facts);
    if (!scenario) return scenario.error();
    const auto policy = target_->add_policy(run.policy);
    if (!policy) return policy.error();
    return RunKey{*scenario, *policy, run.replicate, run.tier, run.seed};
  }

  Result<RunInputs> inputs(const RunRow& run) {
    RunInputs inputs{
        .link_trace = std::nullopt, .link_trace_offset = run.link_trace_offset, .profiles = {}};
    if (run.link_trace) {
      const auto trace = target_->add_link_trace(*run.link_trace);
      if (!trace) return trace.error();
      inputs.link_trace = *trace;
    }
    for (const ProfileFacts& profile : run.profiles) {
      const auto id = target_->add_profile(profile);
      if (!id) return id.error();
      inputs.profiles.push_back(*id);
    }
    return inputs;
  }

  Result<CampaignId> campaign(CampaignId source_id) {
    const auto known = campaigns_.find(source_id);
    if (known != campaigns_.end()) return known->second;
    const auto facts = source_->read_campaign(source_id);
    if (!facts) return facts.error();
    const auto id = target_->add_campaign(*facts);
    if (id) campaigns_.emplace(source_id, *id);
    return id;
  }

 private:
  Store* source_;
  Store* target_;
  std::map<CampaignId, CampaignId> campaigns_;
};

Result<bool> copy_run(Store& source, Store& target, Translator& translate, const RunRow& run) {
  const auto key = translate.key(run);
  if (!key) return key.error();
  const auto missing = target.missing_runs(std::span(&*key, 1));
  if (!missing) return missing.error();
  if (missing->empty()) return false;
  const auto inputs = translate.inputs(run);
  if (!inputs) return inputs.error();
  const auto campaign = translate.campaign(run.campaign);
  if (!campaign) return campaign.error();
  const auto loads = source.read_records(run.id);
  if (!loads) return loads.error();
  return target.import_run(*key, *campaign, *inputs, run, *loads);
}

Status copy_runs(const std::filesystem::path& file, Store& target, MergeSummary& summary) {
  auto source = Store::open_to_read(file);
  if (!source) return source.error();
  const auto snapshot = Transaction::begin_reading(source->database());
  if (!snapshot) return snapshot.error();
  const auto runs = source->read_runs({});
  if (!runs) return runs.error();
  Translator translate(*source, target);
  for (const RunRow& run : *runs) {
    const auto added = copy_run(*source, target, translate, run);
    if (!added) return added.error();
    ++(*added ? summary.num_added : summary.num_known);
  }
  return {};
}

}  // namespace

Result<MergeSummary> merge_stores(std::span<const std::filesystem::path> sources,
                                  const std::filesystem::path& target) {
  SeenRuns seen;
  std::error_code code;
  if (std::filesystem::exists(target, code)) {
    if (Status equal = compare_runs(target, seen); !equal) return equal.error();
  }
  for (const auto& file : sources) {
    if (std::filesystem::equivalent(file, target, code)) {
      return error_in(file.string(), "is both a source and the target",
                      "name the target once, last");
    }
    if (Status equal = compare_runs(file, seen); !equal) return equal.error();
  }
  auto into = Store::open(target);
  if (!into) return into.error();
  MergeSummary summary;
  for (const auto& file : sources) {
    if (Status copied = copy_runs(file, *into, summary); !copied) return copied.error();
  }
  return summary;
}

}  // namespace sluice
