// Runs and their provenance back out, in an order that depends on content only.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/store/codes.h"
#include "analysis/store/state.h"

namespace sluice {
namespace {

constexpr const char* kSelectRuns = R"sql(
SELECT run.id, scenario.name, scenario.sha256, policy.name, policy.version, policy.params,
  run.replicate, run.tier, run.seed, run.state, run.worker, run.claimed_wall_ns, run.campaign_id,
  run.link_trace_offset_ns, link_trace.name, link_trace.reader, link_trace.unit, link_trace.sha256,
  link_trace.kind, link_trace.num_rows, link_trace.num_skipped, run.num_loads,
  (SELECT sum(violated) FROM load WHERE load.run_id = run.id),
  run.simulated_time_ns, run.gpu_busy_time_ns, run.gpu_busy_fraction,
  run.link_utilisation_fraction, run.bytes_moved, run.stored_per_context_bytes
FROM run
JOIN scenario ON scenario.id = run.scenario_id
JOIN policy ON policy.id = run.policy_id
LEFT JOIN link_trace ON link_trace.id = run.link_trace_id
WHERE (?1 IS NULL OR scenario.name = ?1) AND (?2 IS NULL OR scenario.sha256 = ?2)
  AND (?3 IS NULL OR policy.name = ?3) AND (?4 IS NULL OR policy.params = ?4)
  AND (?5 IS NULL OR run.tier = ?5) AND (?6 IS NULL OR run.id = ?6)
  AND (?7 = 0 OR run.state = 'done')
ORDER BY scenario.name, scenario.sha256, policy.name, policy.version, policy.params, run.tier,
  run.seed, run.replicate
)sql";

constexpr const char* kSelectProfiles = R"sql(
SELECT name, sha256, model, device, source
FROM run_profile JOIN codec_profile ON id = profile_id
WHERE run_id = ?1 ORDER BY name, sha256, model, device, source
)sql";

constexpr const char* kSelectHealth = R"sql(
SELECT emulator, link_late_p50_ns, link_late_p99_ns, link_late_max_ns, timer_late_p50_ns,
  timer_late_p99_ns, timer_late_max_ns, cpu_busy_fraction, cpu_stolen_fraction, achieved_fraction, wire_dropped_bytes,
  doubts
FROM emu_health WHERE run_id = ?1
)sql";

constexpr const char* kSelectCampaign = R"sql(
SELECT command, scenario_argument, link_trace_file, num_replicates, started_wall_ns,
  git_commit, dirty, compiler, flags, ns3_version, sqlite_version, host.name, system, cpu, num_cpus
FROM campaign JOIN build ON build.id = build_id JOIN host ON host.id = host_id
WHERE campaign.id = ?1
)sql";

RunMetrics metrics_from(const Statement& row, int column) {
  return {.simulated_time = row.duration(column),
          .gpu_busy_time = row.duration(column + 1),
          .gpu_busy_fraction = row.real(column + 2),
          .link_utilisation = row.real(column + 3),
          .bytes_moved = row.size(column + 4),
          .stored_per_context = row.size(column + 5)};
}

RunRow run_from(const Statement& row) {
  RunRow run{.id = {row.integer(0)},
             .scenario = row.text(1),
             .scenario_sha256 = row.text(2),
             .policy = {.name = row.text(3), .version = row.text(4), .params = row.text(5)},
             .replicate = row.integer(6),
             .tier = row.text(7),
             .seed = static_cast<std::uint64_t>(row.integer(8)),
             .done = row.text(9) == "done",
             .worker = row.text(10),
             .claimed_at = WallTime(std::chrono::nanoseconds(row.integer(11))),
             .campaign = {row.integer(12)}};
  if (!row.is_null(13)) {
    run.link_trace_offset = row.duration(13);
    run.link_trace = LinkTraceFacts{.name = row.text(14),
                                    .reader = row.text(15),
                                    .unit = row.text(16),
                                    .sha256 = row.text(17),
                                    .kind = trace_kind_from(row.text(18)),
                                    .num_rows = row.integer(19),
                                    .num_skipped = row.integer(20)};
  }
  if (run.done) {
    run.num_loads = row.integer(21);
    run.num_violated = row.integer(22);
    run.metrics = metrics_from(row, 23);
  }
  return run;
}

Status read_profiles(const Database& database, std::vector<RunRow>& runs) {
  Statement select = database.prepare(kSelectProfiles);
  for (RunRow& run : runs) {
    const Status read = select.bind(run.id.value).for_each([&] {
      run.profiles.push_back({.name = select.text(0),
                              .sha256 = select.text(1),
                              .model = select.text(2),
                              .device = select.text(3),
                              .source = select.text(4)});
    });
    if (!read) return read;
  }
  return {};
}

Status read_health(const Database& database, std::vector<RunRow>& runs) {
  Statement select = database.prepare(kSelectHealth);
  for (RunRow& run : runs) {
    const Status read = select.bind(run.id.value).for_each([&] {
      run.metrics.health = HostHealth{.emulator = select.text(0),
                                      .link_late_p50 = select.duration(1),
                                      .link_late_p99 = select.duration(2),
                                      .link_late_max = select.duration(3),
                                      .timer_late_p50 = select.duration(4),
                                      .timer_late_p99 = select.duration(5),
                                      .timer_late_max = select.duration(6),
                                      .cpu_busy = select.real(7),
                                      .cpu_stolen = select.real(8),
                                      .achieved_share = select.real(9),
                                      .wire_dropped = select.size(10),
                                      .doubts = select.text(11)};
    });
    if (!read) return read;
  }
  return {};
}

}  // namespace

std::string policy_text(const PolicyFacts& policy) {
  return policy.params.empty() ? policy.name : policy.name + ":" + policy.params;
}

std::string name_of(const RunRow& run) {
  return fmt::format("run {}, {}, tier {}, seed {}, replicate {}", run.scenario,
                     policy_text(run.policy), run.tier, run.seed, run.replicate);
}

Result<std::vector<RunRow>> Store::read_runs(const RunFilter& filter) const {
  Statement select = state_->database.prepare(kSelectRuns);
  std::optional<std::int64_t> run_id;
  if (filter.run) run_id = filter.run->value;
  select.bind(filter.scenario, filter.scenario_sha256, filter.policy, filter.policy_params,
              filter.tier, run_id, filter.done_only);
  std::vector<RunRow> runs;
  Status read = select.for_each([&] { runs.push_back(run_from(select)); });
  if (!read) return read.error();
  read = read_profiles(state_->database, runs);
  if (!read) return read.error();
  read = read_health(state_->database, runs);
  if (!read) return read.error();
  return runs;
}

Result<ScenarioFacts> Store::read_scenario(const std::string& sha256) const {
  Statement select =
      state_->database.prepare("SELECT name, canonical, question FROM scenario WHERE sha256 = ?1");
  const auto row = select.bind(sha256).step();
  if (!row) return row.error();
  if (!*row) {
    return error_in(state_->database.file(), fmt::format("has no scenario {}", sha256),
                    "run `./sluice store check` on the file");
  }
  return ScenarioFacts{
      .name = select.text(0), .canonical = select.text(1), .question = select.text(2)};
}

Result<CampaignFacts> Store::read_campaign(CampaignId campaign) const {
  Statement select = state_->database.prepare(kSelectCampaign);
  const auto row = select.bind(campaign.value).step();
  if (!row) return row.error();
  const auto& file = state_->database.file();
  if (!*row) {
    return error_in(file, fmt::format("has no campaign {}", campaign.value),
                    "run `./sluice store check` on the file");
  }
  const auto command = nlohmann::json::parse(select.text(0), nullptr, false);
  CampaignFacts facts{.scenario_argument = select.text(1),
                      .num_replicates = select.integer(3),
                      .started_at = WallTime(std::chrono::nanoseconds(select.integer(4))),
                      .build = {.commit = select.text(5),
                                .dirty = select.integer(6) != 0,
                                .compiler = select.text(7),
                                .flags = select.text(8),
                                .ns3_version = select.text(9),
                                .sqlite_version = select.text(10)},
                      .host = {.name = select.text(11),
                               .system = select.text(12),
                               .cpu = select.text(13),
                               .num_cpus = select.integer(14)}};
  for (const auto& word : command) {
    if (word.is_string()) facts.command.push_back(word.get<std::string>());
  }
  if (!select.is_null(2)) facts.link_trace_file = select.text(2);
  return facts;
}

}  // namespace sluice
