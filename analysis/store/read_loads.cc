// Loads and chunks back out: light rows to score by the million, and records as they were written.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analysis/store/codes.h"
#include "analysis/store/state.h"

namespace sluice {
namespace {

constexpr const char* kSelectLoadRows = R"sql(
SELECT load_index, arrived_ns, slo_ns, first_token_ns, outcome, violated, bytes_moved, quality,
  context_tokens, recomputed_tokens, peak_memory_bytes
FROM load WHERE run_id = ?1 ORDER BY load_index
)sql";

constexpr const char* kSelectLevels = R"sql(
SELECT level_id, tokens FROM chunk
WHERE run_id = ?1 AND load_index = ?2 AND action IN (?3, ?4)
)sql";

constexpr const char* kSelectRecords = R"sql(
SELECT load_index, arrived_ns, slo_ns, context_tokens, outcome, failure, kv_ready_ns,
  first_token_ns, bytes_moved, recomputed_tokens, quality, peak_memory_bytes
FROM load WHERE run_id = ?1 ORDER BY load_index
)sql";

constexpr const char* kSelectChunks = R"sql(
SELECT chunk_index, tokens, action, level.words, bytes, damage, reason.words, requested_ns,
  first_byte_ns, arrived_ns, compute_began_ns, resident_ns
FROM chunk JOIN phrase AS level ON level.id = level_id JOIN phrase AS reason ON reason.id = reason_id
WHERE run_id = ?1 AND load_index = ?2 ORDER BY chunk_index
)sql";

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
      : select_loads_(database.prepare(kSelectLoadRows)),
        select_levels_(database.prepare(kSelectLevels)),
        select_phrase_(database.prepare("SELECT words FROM phrase WHERE id = ?1")) {}

  Status read(const RunRow& run) {
    return select_loads_.bind(run.id.value).for_each([&] {
      table_.loads.push_back(load_row_from(select_loads_, run));
      return read_levels(table_.loads.back());
    });
  }
  [[nodiscard]] LoadTable take() { return std::move(table_); }

 private:
  Status read_levels(LoadRow& load) {
    select_levels_.bind(load.run.value, load.index, code_of(ChunkAction::kFetched),
                        code_of(ChunkAction::kReused));
    const Status read = select_levels_.for_each([&]() -> Status {
      const auto level = level_index(select_levels_.integer(0));
      if (!level) return level.error();
      auto count = std::find_if(load.levels.begin(), load.levels.end(),
                                [&](const LevelCount& one) { return one.level == *level; });
      if (count == load.levels.end()) count = load.levels.insert(count, {.level = *level});
      ++count->num_chunks;
      count->num_tokens += select_levels_.integer(1);
      return {};
    });
    std::sort(load.levels.begin(), load.levels.end(),
              [](const LevelCount& a, const LevelCount& b) { return a.level < b.level; });
    return read;
  }

  Result<std::int32_t> level_index(std::int64_t phrase) {
    const auto known = index_of_phrase_.find(phrase);
    if (known != index_of_phrase_.end()) return known->second;
    const auto row = select_phrase_.bind(phrase).step();
    if (!row) return row.error();
    const std::string name = *row ? select_phrase_.text(0) : std::string();
    // Two writers may have stored one name twice.
    const auto same = std::find(table_.levels.begin(), table_.levels.end(), name);
    const auto index = static_cast<std::int32_t>(same - table_.levels.begin());
    if (same == table_.levels.end()) table_.levels.push_back(name);
    index_of_phrase_.emplace(phrase, index);
    return index;
  }

  Statement select_loads_, select_levels_, select_phrase_;
  std::unordered_map<std::int64_t, std::int32_t> index_of_phrase_;
  LoadTable table_;
};

ChunkRecord chunk_from(const Statement& row) {
  return {.index = static_cast<std::int32_t>(row.integer(0)),
          .tokens = row.integer(1),
          .action = chunk_action_from(row.integer(2)),
          .level = row.text(3),
          .bytes = row.size(4),
          .damage = row.real(5),
          .reason = row.text(6),
          .requested_at = row.optional_instant(7),
          .first_byte_at = row.optional_instant(8),
          .arrived_at = row.optional_instant(9),
          .compute_began_at = row.optional_instant(10),
          .resident_at = row.optional_instant(11)};
}

Result<std::vector<ChunkRecord>> chunks_of(Statement& select, RunId run, std::int64_t load_index) {
  std::vector<ChunkRecord> chunks;
  const Status read =
      select.bind(run.value, load_index).for_each([&] { chunks.push_back(chunk_from(select)); });
  if (!read) return read.error();
  return chunks;
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

Result<LoadTable> Store::read_loads(const RunFilter& filter) const {
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

Result<std::vector<LoadRecord>> Store::read_records(RunId run) const {
  Statement select = state_->database.prepare(kSelectRecords);
  Statement select_chunks = state_->database.prepare(kSelectChunks);
  std::vector<LoadRecord> loads;
  const Status read = select.bind(run.value).for_each([&]() -> Status {
    loads.push_back(record_from(select));
    auto chunks = chunks_of(select_chunks, run, loads.back().index);
    if (!chunks) return chunks.error();
    loads.back().chunks = std::move(*chunks);
    return {};
  });
  if (!read) return read.error();
  return loads;
}

Result<std::vector<ChunkRecord>> Store::read_chunks(RunId run, std::int64_t load_index) const {
  const auto load = state_->database.find_integer(
      "SELECT 1 FROM load WHERE run_id = ?1 AND load_index = ?2", run.value, load_index);
  if (!load) return load.error();
  if (!*load) {
    return error_in(state_->database.file(),
                    fmt::format("has no load:{}/{}", run.value, load_index),
                    "`./sluice store list --runs` shows the runs and how many loads they have");
  }
  Statement select = state_->database.prepare(kSelectChunks);
  return chunks_of(select, run, load_index);
}

}  // namespace sluice
