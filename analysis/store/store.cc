#include "analysis/store/store.h"

#include <fmt/format.h>

#include "analysis/store/schema.h"
#include "analysis/store/state.h"

namespace sluice {
namespace {

constexpr const char* kFindRun =
    "SELECT state, worker, id FROM run"
    " WHERE scenario_id = ?1 AND policy_id = ?2 AND replicate = ?3 AND tier = ?4 AND seed = ?5";

Statement& bind_key(Statement& statement, const RunKey& key) {
  return statement.bind(key.scenario.value, key.policy.value, key.replicate, key.tier,
                        static_cast<std::int64_t>(key.seed));
}

// A commit is on disk for other processes at once; it survives a killed process, not always a power cut.
Status configure(const Database& database) {
  return database.execute("PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;"
                          "PRAGMA cache_size = -65536");
}

}  // namespace

Store::Store(std::unique_ptr<StoreState> state) : state_(std::move(state)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

const Database& Store::database() const { return state_->database; }

Result<Store> Store::open(const std::filesystem::path& file) {
  auto opened = Database::open(file, OpenMode::kCreate);
  if (!opened) return opened.error();
  auto state = std::make_unique<StoreState>(std::move(*opened));
  // First a look, so that a stranger's file is refused before anything in it changes.
  if (Status ours = migrate(state->database); !ours) return ours.error();
  if (Status set = state->database.execute("PRAGMA journal_mode = WAL"); !set) return set.error();
  if (Status set = configure(state->database); !set) return set.error();
  return Store(std::move(state));
}

Result<Store> Store::open_to_read(const std::filesystem::path& file) {
  auto opened = Database::open(file, OpenMode::kReadOnly);
  if (!opened) return opened.error();
  auto state = std::make_unique<StoreState>(std::move(*opened));
  if (Status ours = require_current_schema(state->database); !ours) return ours.error();
  if (Status set = configure(state->database); !set) return set.error();
  return Store(std::move(state));
}

Result<std::vector<RunKey>> Store::missing_runs(std::span<const RunKey> wanted) {
  Statement find = state_->database.prepare(kFindRun);
  std::vector<RunKey> missing;
  for (const RunKey& key : wanted) {
    const auto found = bind_key(find, key).step();
    if (!found) return found.error();
    if (!*found || find.text(0) != "done") missing.push_back(key);
  }
  return missing;
}

Result<Claim> Store::claim(const RunKey& key, CampaignId campaign) {
  auto transaction = Transaction::begin(state_->database);
  if (!transaction) return transaction.error();
  Statement find = state_->database.prepare(kFindRun);
  const auto found = bind_key(find, key).step();
  if (!found) return found.error();
  if (*found && find.text(0) == "done") return Claim::kDone;
  if (*found) {
    const std::string holder = find.text(1);
    if (holder != state_->worker && is_alive(holder)) return Claim::kTaken;
  }
  find.reset();
  Statement take = state_->database.prepare(
      "INSERT INTO run (scenario_id, policy_id, replicate, tier, seed, campaign_id, state, worker, claimed_wall_ns)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'claimed', ?7, ?8)"
      " ON CONFLICT (scenario_id, policy_id, replicate, tier, seed) DO UPDATE SET campaign_id = excluded.campaign_id,"
      " worker = excluded.worker, claimed_wall_ns = excluded.claimed_wall_ns");
  const Status taken = take.run_with(key.scenario.value, key.policy.value, key.replicate, key.tier,
                                     static_cast<std::int64_t>(key.seed), campaign.value, state_->worker,
                                     wall_now().time_since_epoch().count());
  if (!taken) return taken.error();
  if (Status done = transaction->commit(); !done) return done.error();
  return Claim::kOurs;
}

Status Store::release(const RunKey& key) {
  Statement drop = state_->database.prepare(
      "DELETE FROM run WHERE scenario_id = ?1 AND policy_id = ?2 AND replicate = ?3 AND tier = ?4 AND seed = ?5"
      " AND state = 'claimed' AND worker = ?6");
  return drop.run_with(key.scenario.value, key.policy.value, key.replicate, key.tier,
                       static_cast<std::int64_t>(key.seed), state_->worker);
}

}  // namespace sluice
