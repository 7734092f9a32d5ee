// One run into the file: all of its rows in one transaction.
#include <fmt/format.h>

#include <cmath>

#include "analysis/store/chunk_text.h"
#include "analysis/store/codes.h"
#include "analysis/store/state.h"

namespace sluice {
namespace {

constexpr const char* kInsertLoad = R"sql(
INSERT INTO load (run_id, load_index, arrived_ns, slo_ns, context_tokens, outcome, failure,
  kv_ready_ns, first_token_ns, violated, bytes_moved, recomputed_tokens, quality, peak_memory_bytes,
  chunks)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
)sql";

constexpr const char* kFindOwnClaim = R"sql(
SELECT id FROM run
WHERE scenario_id = ?1 AND policy_id = ?2 AND replicate = ?3 AND tier = ?4 AND seed = ?5
  AND state = 'claimed' AND worker = ?6
)sql";

constexpr const char* kFinishRun = R"sql(
UPDATE run SET state = 'done', link_trace_id = ?2, link_trace_offset_ns = ?3, num_loads = ?4,
  simulated_time_ns = ?5, gpu_busy_time_ns = ?6, gpu_busy_fraction = ?7,
  link_utilisation_fraction = ?8, bytes_moved = ?9, stored_per_context_bytes = ?10
WHERE id = ?1
)sql";

// The chunks of the load as the text of its row. Each index once, in order.
Status write_chunks(const Database& database, StoreState::Writer& writer, const LoadRecord& load) {
  std::string& text = writer.chunks;
  text.assign(1, '[');
  std::int64_t last = -1;
  for (const ChunkRecord& chunk : load.chunks) {
    if (chunk.index <= last || !std::isfinite(chunk.damage)) {
      return error_in(database.file(),
                      fmt::format("chunk {} of load {} {}", chunk.index, load.index,
                                  chunk.index <= last ? "does not follow the one before it"
                                                      : "has a damage that is no number"),
                      "this is a bug in what made the load");
    }
    if (last >= 0) text += ',';
    last = chunk.index;
    const auto level = writer.texts.id_of(chunk.level);
    if (!level) return level.error();
    const auto reason = writer.texts.id_of(chunk.reason);
    if (!reason) return reason.error();
    append_chunk(text, chunk, *level, *reason, load.arrived_at);
  }
  text += ']';
  return {};
}

Status insert_load(const Database& database, StoreState::Writer& writer, RunId run,
                   const LoadRecord& load) {
  std::optional<std::string> failure;
  if (!load.failure.empty()) failure = load.failure;
  if (Status written = write_chunks(database, writer, load); !written) return written;
  return writer.insert_load.run_with(
      run.value, load.index, load.arrived_at, load.slo, load.context_tokens, code_of(load.outcome),
      failure, load.kv_ready_at, load.first_token_at, load.violated(), load.bytes_moved,
      load.recomputed_tokens, load.quality, load.peak_memory, KeptText{writer.chunks});
}

// The id of the run that `worker` has claimed.
Result<RunId> own_claim(const Database& database, const std::string& worker, const RunKey& key) {
  const auto id = database.find_integer(kFindOwnClaim, key.scenario.value, key.policy.value,
                                        key.replicate, key.tier, code_of_seed(key), worker);
  if (!id) return id.error();
  if (*id) return RunId{**id};
  return error_in(database.file(),
                  fmt::format("the run (scenario row {}, policy row {}, tier {}, replicate {}) is "
                              "not claimed by this process",
                              key.scenario.value, key.policy.value, key.tier, key.replicate),
                  "claim a run before writing it");
}

Status finish_run(const Database& database, RunId run, const RunInputs& inputs,
                  const RunMetrics& metrics, std::size_t num_loads) {
  std::optional<std::int64_t> trace;
  std::optional<Duration> offset;
  if (inputs.link_trace) {
    trace = inputs.link_trace->value;
    offset = inputs.link_trace_offset;
  }
  return database.prepare(kFinishRun)
      .run_with(run.value, trace, offset, static_cast<std::int64_t>(num_loads),
                metrics.simulated_time, metrics.gpu_busy_time, metrics.gpu_busy_fraction,
                metrics.link_utilisation, metrics.bytes_moved, metrics.stored_per_context);
}

Status insert_profiles(const Database& database, RunId run,
                       const std::vector<ProfileId>& profiles) {
  Statement insert =
      database.prepare("INSERT OR IGNORE INTO run_profile (run_id, profile_id) VALUES (?1, ?2)");
  for (const ProfileId profile : profiles) {
    if (Status added = insert.run_with(run.value, profile.value); !added) return added;
  }
  return {};
}

constexpr const char* kInsertHealth = R"sql(
INSERT INTO emu_health (run_id, emulator, link_late_p50_ns, link_late_p99_ns, link_late_max_ns,
  timer_late_p50_ns, timer_late_p99_ns, timer_late_max_ns, cpu_busy_fraction, cpu_stolen_fraction,
  achieved_fraction, wire_dropped_bytes, doubts)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)
)sql";

Status insert_health(const Database& database, RunId run, const HostHealth& h) {
  return database.prepare(kInsertHealth)
      .run_with(run.value, h.emulator, h.link_late_p50, h.link_late_p99, h.link_late_max,
                h.timer_late_p50, h.timer_late_p99, h.timer_late_max, h.cpu_busy, h.cpu_stolen,
                h.achieved_share, h.wire_dropped, h.doubts);
}

// The rows of a run that `worker` has claimed, within the caller's transaction.
Result<RunId> write_rows(StoreState& state, const std::string& worker, const RunKey& key,
                         const RunInputs& inputs, const RunMetrics& metrics,
                         std::span<const LoadRecord> loads) {
  if (!state.writer) state.writer.emplace(state.database);
  const auto run = own_claim(state.database, worker, key);
  if (!run) return run;
  Status done = finish_run(state.database, *run, inputs, metrics, loads.size());
  if (!done) return done.error();
  done = insert_profiles(state.database, *run, inputs.profiles);
  if (!done) return done.error();
  if (metrics.health) {
    done = insert_health(state.database, *run, *metrics.health);
    if (!done) return done.error();
  }
  for (const LoadRecord& load : loads) {
    done = insert_load(state.database, *state.writer, *run, load);
    if (!done) return done.error();
  }
  return run;
}

// Begins a transaction, does `work`, commits when it succeeded. After a rollback the remembered
// texts are gone too.
template <typename T, typename Work>
Result<T> in_transaction(StoreState& state, const Work& work) {
  Result<T> result = [&]() -> Result<T> {
    auto transaction = Transaction::begin(state.database);
    if (!transaction) return transaction.error();
    Result<T> done = work();
    if (!done) return done;
    if (Status committed = transaction->commit(); !committed) return committed.error();
    return done;
  }();
  if (!result && state.writer) state.writer->texts.forget();
  return result;
}

}  // namespace

StoreState::Writer::Writer(const Database& database)
    : texts(database), insert_load(database.prepare(kInsertLoad)) {}

Result<RunId> Store::write_run(const RunKey& key, const RunInputs& inputs,
                               const RunMetrics& metrics, std::span<const LoadRecord> loads) {
  return in_transaction<RunId>(
      *state_, [&] { return write_rows(*state_, state_->worker, key, inputs, metrics, loads); });
}

Result<bool> Store::import_run(const RunKey& key, CampaignId campaign, const RunInputs& inputs,
                               const RunRow& from, std::span<const LoadRecord> loads) {
  return in_transaction<bool>(*state_, [&]() -> Result<bool> {
    const auto claim = take_run(
        *state_, key, {.campaign = campaign, .worker = from.worker, .at = from.claimed_at});
    if (!claim) return claim.error();
    if (*claim == Claim::kDone) return false;
    if (*claim == Claim::kTaken) {
      return error_in(state_->database.file(),
                      "another process is making " + name_of(from) + " here",
                      "wait until it has ended");
    }
    const auto run = write_rows(*state_, from.worker, key, inputs, from.metrics, loads);
    if (!run) return run.error();
    return true;
  });
}

}  // namespace sluice
