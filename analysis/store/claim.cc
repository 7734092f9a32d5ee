// Who makes which run: claims, so that several processes share one file.
#include "analysis/store/state.h"

namespace sluice {
namespace {

constexpr const char* kFindHolder = R"sql(
SELECT state, worker FROM run
WHERE scenario_id = ?1 AND policy_id = ?2 AND replicate = ?3 AND tier = ?4 AND seed = ?5
)sql";

constexpr const char* kTakeRun = R"sql(
INSERT INTO run (scenario_id, policy_id, replicate, tier, seed, campaign_id, state, worker,
  claimed_wall_ns)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'claimed', ?7, ?8)
ON CONFLICT (scenario_id, policy_id, replicate, tier, seed) DO UPDATE
SET campaign_id = excluded.campaign_id, worker = excluded.worker,
  claimed_wall_ns = excluded.claimed_wall_ns
)sql";

constexpr const char* kReleaseRun = R"sql(
DELETE FROM run
WHERE scenario_id = ?1 AND policy_id = ?2 AND replicate = ?3 AND tier = ?4 AND seed = ?5
  AND state = 'claimed' AND worker = ?6
)sql";

struct Holder {
  bool done = false;
  std::string worker;
};

// Nullopt when nobody has claimed the run.
Result<std::optional<Holder>> find_holder(Statement& find, const RunKey& key) {
  const auto found =
      find.bind(key.scenario.value, key.policy.value, key.replicate, key.tier, code_of_seed(key))
          .step();
  if (!found) return found.error();
  if (!*found) return std::optional<Holder>{};
  const Holder holder{.done = find.text(0) == "done", .worker = find.text(1)};
  find.reset();
  return std::optional<Holder>{holder};
}

}  // namespace

Result<Claim> take_run(StoreState& state, const RunKey& key, const ClaimFacts& facts) {
  Statement find = state.database.prepare(kFindHolder);
  const auto holder = find_holder(find, key);
  if (!holder) return holder.error();
  if (*holder && (*holder)->done) return Claim::kDone;
  const bool is_others = *holder && (*holder)->worker != state.worker;
  if (is_others && is_alive((*holder)->worker)) return Claim::kTaken;
  Statement take = state.database.prepare(kTakeRun);
  const Status taken = take.run_with(key.scenario.value, key.policy.value, key.replicate, key.tier,
                                     code_of_seed(key), facts.campaign.value, facts.worker,
                                     facts.at.time_since_epoch().count());
  if (!taken) return taken.error();
  return Claim::kOurs;
}

Result<std::vector<RunKey>> Store::missing_runs(std::span<const RunKey> wanted) {
  Statement find = state_->database.prepare(kFindHolder);
  std::vector<RunKey> missing;
  for (const RunKey& key : wanted) {
    const auto holder = find_holder(find, key);
    if (!holder) return holder.error();
    if (!*holder || !(*holder)->done) missing.push_back(key);
  }
  return missing;
}

Result<Claim> Store::claim(const RunKey& key, CampaignId campaign) {
  auto transaction = Transaction::begin(state_->database);
  if (!transaction) return transaction.error();
  const auto claim =
      take_run(*state_, key, {.campaign = campaign, .worker = state_->worker, .at = wall_now()});
  if (!claim || *claim != Claim::kOurs) return claim;
  if (Status done = transaction->commit(); !done) return done.error();
  return claim;
}

Status Store::release(const RunKey& key) {
  Statement drop = state_->database.prepare(kReleaseRun);
  return drop.run_with(key.scenario.value, key.policy.value, key.replicate, key.tier,
                       code_of_seed(key), state_->worker);
}

}  // namespace sluice
