// Rows back out, in an order that depends on content only.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "analysis/store/codes.h"
#include "analysis/store/state.h"

namespace sluice {
namespace {

constexpr const char* kSelectRuns = R"sql(
SELECT run.id, scenario.name, scenario.sha256, policy.name, policy.version, policy.params, run.replicate, run.tier,
  run.seed, run.state, run.worker, run.claimed_wall_ns, run.campaign_id, run.link_trace_offset_ns,
  link_trace.name, link_trace.reader, link_trace.unit, link_trace.sha256, link_trace.kind, link_trace.num_rows,
  link_trace.num_skipped, run.num_loads, (SELECT total(violated) FROM load WHERE load.run_id = run.id),
  run.simulated_time_ns, run.gpu_busy_time_ns, run.gpu_busy_fraction, run.link_utilisation_fraction,
  run.bytes_moved, run.stored_per_context_bytes
FROM run
JOIN scenario ON scenario.id = run.scenario_id
JOIN policy ON policy.id = run.policy_id
LEFT JOIN link_trace ON link_trace.id = run.link_trace_id
WHERE (?1 IS NULL OR scenario.name = ?1) AND (?2 IS NULL OR scenario.sha256 = ?2) AND (?3 IS NULL OR policy.name = ?3)
  AND (?4 IS NULL OR policy.params = ?4) AND (?5 IS NULL OR run.tier = ?5) AND (?6 IS NULL OR run.id = ?6)
  AND (?7 = 0 OR run.state = 'done')
ORDER BY scenario.name, scenario.sha256, policy.name, policy.version, policy.params, run.tier, run.seed, run.replicate
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
  Statement select = database.prepare(
      "SELECT name, sha256, model, device, source FROM run_profile JOIN codec_profile ON id = profile_id"
      " WHERE run_id = ?1 ORDER BY name, sha256, model, device, source");
  for (RunRow& run : runs) {
    select.bind(run.id.value);
    while (true) {
      const auto row = select.step();
      if (!row) return row.error();
      if (!*row) break;
      run.profiles.push_back({.name = select.text(0),
                              .sha256 = select.text(1),
                              .model = select.text(2),
                              .device = select.text(3),
                              .source = select.text(4)});
    }
  }
  return {};
}

LoadRow load_row_from(const Statement& row, const RunRow& run) {
  LoadRow load{.run = run.id,
               .replicate = run.replicate,
               .index = row.integer(0),
               .arrived_at = row.instant(1),
               .slo = row.duration(2),
               .outcome = load_outcome_from(row.integer(4)),
               .violated = row.integer(5) != 0,
               .bytes_moved = row.size(6),
               .quality = row.real(7),
               .context_tokens = row.integer(8),
               .recomputed_tokens = row.integer(9),
               .peak_memory = row.size(10)};
  if (const auto first_token = row.optional_instant(3)) load.ttft = *first_token - load.arrived_at;
  return load;
}

// Reads the loads of one run after another into one table.
class LoadReader {
 public:
  explicit LoadReader(const Database& database)
      : select_loads_(database.prepare(
            "SELECT load_index, arrived_ns, slo_ns, first_token_ns, outcome, violated, bytes_moved, quality,"
            " context_tokens, recomputed_tokens, peak_memory_bytes FROM load WHERE run_id = ?1 ORDER BY load_index")),
        select_levels_(database.prepare(
            "SELECT level_id, tokens FROM chunk WHERE run_id = ?1 AND load_index = ?2 AND action = ?3")),
        select_phrase_(database.prepare("SELECT words FROM phrase WHERE id = ?1")) {}

  Status read(const RunRow& run) {
    select_loads_.bind(run.id.value);
    while (true) {
      const auto row = select_loads_.step();
      if (!row) return row.error();
      if (!*row) return {};
      table_.loads.push_back(load_row_from(select_loads_, run));
      if (Status done = read_levels(table_.loads.back()); !done) return done;
    }
  }
  [[nodiscard]] LoadTable take() { return std::move(table_); }

 private:
  Status read_levels(LoadRow& load) {
    select_levels_.bind(load.run.value, load.index, code_of(ChunkAction::kFetched));
    while (true) {
      const auto row = select_levels_.step();
      if (!row) return row.error();
      if (!*row) break;
      const auto level = level_index(select_levels_.integer(0));
      if (!level) return level.error();
      auto count = std::find_if(load.levels.begin(), load.levels.end(),
                                [&](const LevelCount& one) { return one.level == *level; });
      if (count == load.levels.end()) count = load.levels.insert(count, {.level = *level});
      ++count->num_chunks;
      count->num_tokens += select_levels_.integer(1);
    }
    std::sort(load.levels.begin(), load.levels.end(),
              [](const LevelCount& a, const LevelCount& b) { return a.level < b.level; });
    return {};
  }

  Result<std::int32_t> level_index(std::int64_t phrase) {
    if (const auto known = index_of_phrase_.find(phrase); known != index_of_phrase_.end()) return known->second;
    const auto row = select_phrase_.bind(phrase).step();
    if (!row) return row.error();
    const std::string name = *row ? select_phrase_.text(0) : std::string();
    const auto same = std::find(table_.levels.begin(), table_.levels.end(), name);  // two writers, one name
    const auto index = static_cast<std::int32_t>(same - table_.levels.begin());
    if (same == table_.levels.end()) table_.levels.push_back(name);
    index_of_phrase_.emplace(phrase, index);
    return index;
  }

  Statement select_loads_, select_levels_, select_phrase_;
  std::unordered_map<std::int64_t, std::int32_t> index_of_phrase_;
  LoadTable table_;
};

constexpr const char* kSelectChunks =
    "SELECT chunk_index, tokens, action, level.words, bytes, damage, reason.words, requested_ns, first_byte_ns,"
    " arrived_ns, compute_began_ns, resident_ns FROM chunk JOIN phrase AS level ON level.id = level_id"
    " JOIN phrase AS reason ON reason.id = reason_id"
    " WHERE run_id = ?1 AND load_index = ?2 ORDER BY chunk_index";

Result<std::vector<ChunkRecord>> chunks_of(Statement& select, RunId run, std::int64_t load_index) {
  select.bind(run.value, load_index);
  std::vector<ChunkRecord> chunks;
  while (true) {
    const auto row = select.step();
    if (!row) return row.error();
    if (!*row) return chunks;
    chunks.push_back({.index = static_cast<std::int32_t>(select.integer(0)),
                      .tokens = select.integer(1),
                      .action = chunk_action_from(select.integer(2)),
                      .level = select.text(3),
                      .bytes = select.size(4),
                      .damage = select.real(5),
                      .reason = select.text(6),
                      .requested_at = select.optional_instant(7),
                      .first_byte_at = select.optional_instant(8),
                      .arrived_at = select.optional_instant(9),
                      .compute_began_at = select.optional_instant(10),
                      .resident_at = select.optional_instant(11)});
  }
}

LoadRecord record_from(const Statement& row) {
  return {.index = row.integer(0),
          .arrived_at = row.instant(1),
          .slo = row.duration(2),
          .context_tokens = row.integer(3),
          .outcome = load_outcome_from(row.integer(4)),
          .failure = row.text(5),
          .kv_ready_at = row.optional_instant(6),
          .first_token_at = row.optional_instant(7),
          .bytes_moved = row.size(8),
          .recomputed_tokens = row.integer(9),
          .quality = row.real(10),
          .peak_memory = row.size(11),
          .chunks = {}};
}

}  // namespace

std::string policy_text(const PolicyFacts& policy) {
  return policy.params.empty() ? policy.name : policy.name + ":" + policy.params;
}

std::string name_of(const RunRow& run) {
  return fmt::format("run {}, {}, tier {}, seed {}, replicate {}", run.scenario, policy_text(run.policy), run.tier,
                     run.seed, run.replicate);
}

Result<std::vector<RunRow>> Store::read_runs(const RunFilter& filter) {
  Statement select = state_->database.prepare(kSelectRuns);
  std::optional<std::int64_t> run_id;
  if (filter.run) run_id = filter.run->value;
  select.bind(filter.scenario, filter.scenario_sha256, filter.policy, filter.policy_params, filter.tier, run_id,
              filter.done_only);
  std::vector<RunRow> runs;
  while (true) {
    const auto row = select.step();
    if (!row) return row.error();
    if (!*row) break;
    runs.push_back(run_from(select));
  }
  if (Status done = read_profiles(state_->database, runs); !done) return done.error();
  return runs;
}

Result<LoadTable> Store::read_loads(const RunFilter& filter) {
  RunFilter done_runs = filter;
  done_runs.done_only = true;
  const auto runs = read_runs(done_runs);
  if (!runs) return runs.error();
  LoadReader reader(state_->database);
  for (const RunRow& run : *runs) {
    if (Status done = reader.read(run); !done) return done.error();
  }
  return reader.take();
}

Result<std::vector<LoadRecord>> Store::read_records(RunId run) {
  Statement select = state_->database.prepare(
      "SELECT load_index, arrived_ns, slo_ns, context_tokens, outcome, failure, kv_ready_ns, first_token_ns,"
      " bytes_moved, recomputed_tokens, quality, peak_memory_bytes FROM load WHERE run_id = ?1 ORDER BY load_index");
  Statement select_chunks = state_->database.prepare(kSelectChunks);
  select.bind(run.value);
  std::vector<LoadRecord> loads;
  while (true) {
    const auto row = select.step();
    if (!row) return row.error();
    if (!*row) return loads;
    loads.push_back(record_from(select));
    auto chunks = chunks_of(select_chunks, run, loads.back().index);
    if (!chunks) return chunks.error();
    loads.back().chunks = std::move(*chunks);
  }
}

Result<std::vector<ChunkRecord>> Store::read_chunks(RunId run, std::int64_t load_index) {
  const auto load = state_->database.find_integer("SELECT 1 FROM load WHERE run_id = ?1 AND load_index = ?2",
                                                  run.value, load_index);
  if (!load) return load.error();
  if (!*load) {
    return error_in(state_->database.file(), fmt::format("run {} has no load {}", run.value, load_index),
                    "see `./sluice store list`");
  }
  Statement select = state_->database.prepare(kSelectChunks);
  return chunks_of(select, run, load_index);
}

Result<ScenarioFacts> Store::read_scenario(const std::string& sha256) {
  Statement select = state_->database.prepare("SELECT name, canonical, question FROM scenario WHERE sha256 = ?1");
  const auto row = select.bind(sha256).step();
  if (!row) return row.error();
  if (!*row) {
    return error_in(state_->database.file(), fmt::format("has no scenario {}", sha256),
                    "run `./sluice store check` on the file");
  }
  return ScenarioFacts{.name = select.text(0), .canonical = select.text(1), .question = select.text(2)};
}

Result<CampaignFacts> Store::read_campaign(CampaignId campaign) {
  Statement select = state_->database.prepare(
      "SELECT command, scenario_argument, link_trace_file, num_replicates, started_wall_ns, git_commit, dirty,"
      " compiler, flags, ns3_version, sqlite_version, host.name, system, cpu, num_cpus FROM campaign"
      " JOIN build ON build.id = build_id JOIN host ON host.id = host_id WHERE campaign.id = ?1");
  const auto row = select.bind(campaign.value).step();
  if (!row) return row.error();
  const auto& file = state_->database.file();
  if (!*row) {
    return error_in(file, fmt::format("has no campaign {}", campaign.value), "run `./sluice store check` on the file");
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
