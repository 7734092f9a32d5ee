// The provenance tables: each fact once, found again by content.
#include <nlohmann/json.hpp>

#include "analysis/store/codes.h"
#include "analysis/store/state.h"
#include "base/sha256.h"

namespace sluice {
namespace {

constexpr const char* kFindCampaign = R"sql(
SELECT id FROM campaign
WHERE command = ?1 AND scenario_argument = ?2 AND link_trace_file IS ?3 AND num_replicates = ?4
  AND started_wall_ns = ?5 AND build_id = ?6 AND host_id = ?7
)sql";

constexpr const char* kInsertCampaign = R"sql(
INSERT INTO campaign (command, scenario_argument, link_trace_file, num_replicates, started_wall_ns,
  build_id, host_id)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
)sql";

// The id of the row with these values, inserted when there is none. Both statements take the values
// in one order.
template <typename... Values>
Result<std::int64_t> find_or_insert(const Database& database, const char* find, const char* insert,
                                    const Values&... values) {
  const auto known = database.find_integer(find, values...);
  if (!known) return known.error();
  if (*known) return **known;
  if (Status added = database.prepare(insert).run_with(values...); !added) return added.error();
  return database.last_insert_id();
}

// The same in a transaction of its own, so that two processes never add one fact twice.
template <typename Id, typename... Values>
Result<Id> add(const Database& database, const char* find, const char* insert,
               const Values&... values) {
  auto transaction = Transaction::begin(database);
  if (!transaction) return transaction.error();
  const auto id = find_or_insert(database, find, insert, values...);
  if (!id) return id.error();
  if (Status done = transaction->commit(); !done) return done.error();
  return Id{*id};
}

// Bytes of an argument that are not UTF-8 become U+FFFD.
std::string json_list(const std::vector<std::string>& texts) {
  return nlohmann::json(texts).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<std::int64_t> add_build(const Database& database, const BuildFacts& build) {
  return find_or_insert(
      database,
      "SELECT id FROM build WHERE git_commit = ?1 AND dirty = ?2 AND compiler = ?3 AND flags = ?4"
      " AND ns3_version = ?5 AND sqlite_version = ?6",
      "INSERT INTO build (git_commit, dirty, compiler, flags, ns3_version, sqlite_version)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
      build.commit, build.dirty, build.compiler, build.flags, build.ns3_version,
      build.sqlite_version);
}

Result<std::int64_t> add_host(const Database& database, const HostFacts& host) {
  return find_or_insert(
      database,
      "SELECT id FROM host WHERE name = ?1 AND system = ?2 AND cpu = ?3 AND num_cpus = ?4",
      "INSERT INTO host (name, system, cpu, num_cpus) VALUES (?1, ?2, ?3, ?4)", host.name,
      host.system, host.cpu, host.num_cpus);
}

}  // namespace

Result<ScenarioId> Store::add_scenario(const ScenarioFacts& scenario) {
  return add<ScenarioId>(
      state_->database, "SELECT id FROM scenario WHERE sha256 = ?4",
      "INSERT INTO scenario (name, canonical, question, sha256) VALUES (?1, ?2, ?3, ?4)",
      scenario.name, scenario.canonical, scenario.question, sha256_hex(scenario.canonical));
}

Result<PolicyId> Store::add_policy(const PolicyFacts& policy) {
  return add<PolicyId>(state_->database,
                       "SELECT id FROM policy WHERE name = ?1 AND version = ?2 AND params = ?3",
                       "INSERT INTO policy (name, version, params) VALUES (?1, ?2, ?3)",
                       policy.name, policy.version, policy.params);
}

Result<LinkTraceId> Store::add_link_trace(const LinkTraceFacts& trace) {
  return add<LinkTraceId>(
      state_->database,
      "SELECT id FROM link_trace WHERE name = ?1 AND reader = ?2 AND unit = ?3 AND kind = ?4"
      " AND sha256 = ?5 AND num_rows = ?6 AND num_skipped = ?7",
      "INSERT INTO link_trace (name, reader, unit, kind, sha256, num_rows, num_skipped)"
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
      trace.name, trace.reader, trace.unit, to_text(trace.kind), trace.sha256, trace.num_rows,
      trace.num_skipped);
}

Result<ProfileId> Store::add_profile(const ProfileFacts& profile) {
  return add<ProfileId>(
      state_->database,
      "SELECT id FROM codec_profile WHERE name = ?1 AND sha256 = ?2 AND model = ?3"
      " AND device = ?4 AND source = ?5",
      "INSERT INTO codec_profile (name, sha256, model, device, source) VALUES (?1, ?2, ?3, ?4, ?5)",
      profile.name, profile.sha256, profile.model, profile.device, profile.source);
}

Result<CampaignId> Store::add_campaign(const CampaignFacts& campaign) {
  const Database& database = state_->database;
  auto transaction = Transaction::begin(database);
  if (!transaction) return transaction.error();
  const auto build = add_build(database, campaign.build);
  if (!build) return build.error();
  const auto host = add_host(database, campaign.host);
  if (!host) return host.error();
  const auto id =
      find_or_insert(database, kFindCampaign, kInsertCampaign, json_list(campaign.command),
                     campaign.scenario_argument, campaign.link_trace_file, campaign.num_replicates,
                     campaign.started_at.time_since_epoch().count(), *build, *host);
  if (!id) return id.error();
  if (Status done = transaction->commit(); !done) return done.error();
  return CampaignId{*id};
}

}  // namespace sluice
