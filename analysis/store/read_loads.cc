// Loads and chunks back out: light rows to score by the million, and records as they were written.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "analysis/store/chunk_text.h"
#include "analysis/store/codes.h"
#include "analysis/store/state.h"

namespace sluice {
namespace {

constexpr const char* kSelectLoadRows = R"sql(
SELECT load_index, arrived_ns, slo_ns, first_token_ns, outcome, violated, bytes_moved, quality,
  context_tokens, recomputed_tokens, peak_memory_bytes, chunks
FROM load WHERE run_id = ?1 ORDER BY load_index
)sql";

constexpr const char* kSelectRecords = R"sql(
SELECT load_index, arrived_ns, slo_ns, context_tokens, outcome, failure, kv_ready_ns,
  first_token_ns, bytes_moved, recomputed_tokens, quality, peak_memory_bytes, chunks
FROM load WHERE run_id = ?1 ORDER BY load_index
)sql";

constexpr const char* kSelectChunks =
    "SELECT arrived_ns, chunks FROM load WHERE run_id = ?1 AND load_index = ?2";

// The words behind ids, each read once.
class Phrases {
 public:
  explicit Phrases(const Database& database)
      : database_(&database), select_(database.prepare("SELECT words FROM phrase WHERE id = ?1")) {}
  Result<const std::string*> words(std::int64_t id) {
    const auto [known, is_new] = words_.try_emplace(id);
    if (!is_new) return &known->second;
    const auto row = select_.bind(id).step();
    if (row && *row) {
      known->second = select_.text(0);
      return &known->second;
    }
    words_.erase(known);
    if (!row) return row.error();
    return error_in(database_->file(), fmt::format("has no phrase {}, which a chunk names", id),
                    "run `./sluice store check` on the file");
  }

 private:
  const Database* database_;
  Statement select_;
  std::unordered_map<std::int64_t, std::string> words_;
};

// The chunks in column `column` of the row of a load.
Status read_chunk_text(const Database& database, const Statement& row, int column, RunId run,
                       std::int64_t load_index, Instant arrived, std::vector<StoredChunk>& chunks) {
  const Status parsed = parse_chunks(row.text_view(column), arrived, chunks);
  if (parsed) return {};
  return error_in(database.file(),
                  fmt::format("load:{}/{}: {}", run.value, load_index, parsed.error().what),
                  parsed.error().fix);
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
      : database_(&database),
        phrases_(database),
        select_loads_(database.prepare(kSelectLoadRows)) {}

  Status read(const RunRow& run) {
    return select_loads_.bind(run.id.value).for_each([&] {
      table_.loads.push_back(load_row_from(select_loads_, run));
      return count_levels(table_.loads.back());
    });
  }
  [[nodiscard]] LoadTable take() { return std::move(table_); }

 private:
  Status count_levels(LoadRow& load) {
    if (Status read = read_chunk_text(*database_, select_loads_, 11, load.run, load.index,
                                      load.arrived_at, chunks_);
        !read)
      return read;
    for (const StoredChunk& chunk : chunks_) {
      const ChunkAction action = chunk.record.action;
      if (action != ChunkAction::kFetched && action != ChunkAction::kReused) continue;
      const auto level = level_index(chunk.level_id);
      if (!level) return level.error();
      auto count = std::find_if(load.levels.begin(), load.levels.end(),
                                [&](const LevelCount& one) { return one.level == *level; });
      if (count == load.levels.end()) count = load.levels.insert(count, {.level = *level});
      ++count->num_chunks;
      count->num_tokens += chunk.record.tokens;
    }
    std::sort(load.levels.begin(), load.levels.end(),
              [](const LevelCount& a, const LevelCount& b) { return a.level < b.level; });
    return {};
  }

  Result<std::int32_t> level_index(std::int64_t phrase) {
    const auto known = index_of_phrase_.find(phrase);
    if (known != index_of_phrase_.end()) return known->second;
    const auto name = phrases_.words(phrase);
    if (!name) return name.error();
    // Two writers may have stored one name twice.
    const auto same = std::find(table_.levels.begin(), table_.levels.end(), **name);
    const auto index = static_cast<std::int32_t>(same - table_.levels.begin());
    if (same == table_.levels.end()) table_.levels.push_back(**name);
    index_of_phrase_.emplace(phrase, index);
    return index;
  }

  const Database* database_;
  Phrases phrases_;
  Statement select_loads_;
  std::unordered_map<std::int64_t, std::int32_t> index_of_phrase_;
  std::vector<StoredChunk> chunks_;
  LoadTable table_;
};

// With the words of levels and reasons.
Result<std::vector<ChunkRecord>> with_words(std::vector<StoredChunk>& stored, Phrases& phrases) {
  std::vector<ChunkRecord> chunks;
  chunks.reserve(stored.size());
  for (StoredChunk& chunk : stored) {
    const auto level = phrases.words(chunk.level_id);
    if (!level) return level.error();
    const auto reason = phrases.words(chunk.reason_id);
    if (!reason) return reason.error();
    chunk.record.level = **level;
    chunk.record.reason = **reason;
    chunks.push_back(std::move(chunk.record));
  }
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
  const Database& database = state_->database;
  Statement select = database.prepare(kSelectRecords);
  Phrases phrases(database);
  std::vector<StoredChunk> stored;
  std::vector<LoadRecord> loads;
  const Status read = select.bind(run.value).for_each([&]() -> Status {
    LoadRecord& load = loads.emplace_back(record_from(select));
    if (Status text =
            read_chunk_text(database, select, 12, run, load.index, load.arrived_at, stored);
        !text)
      return text;
    auto chunks = with_words(stored, phrases);
    if (!chunks) return chunks.error();
    load.chunks = std::move(*chunks);
    return {};
  });
  if (!read) return read.error();
  return loads;
}

Result<std::vector<ChunkRecord>> Store::read_chunks(RunId run, std::int64_t load_index) const {
  const Database& database = state_->database;
  Statement select = database.prepare(kSelectChunks);
  const auto row = select.bind(run.value, load_index).step();
  if (!row) return row.error();
  if (!*row) {
    return error_in(database.file(), fmt::format("has no load:{}/{}", run.value, load_index),
                    "`./sluice store list --runs` shows the runs and how many loads they have");
  }
  std::vector<StoredChunk> stored;
  if (Status text =
          read_chunk_text(database, select, 1, run, load_index, select.instant(0), stored);
      !text)
    return text.error();
  Phrases phrases(database);
  return with_words(stored, phrases);
}

}  // namespace sluice
