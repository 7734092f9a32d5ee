#include "analysis/store/schema.h"

#include <fmt/format.h>

#include <array>

#include "analysis/store/pack_chunks.h"

namespace sluice {
namespace {

// Times are ns since the run began, except *_wall_ns: ns since 1970-01-01 UTC. Sizes are bytes.
// Loads and chunks are rows by the million: natural keys and no second index, codes for words, and
// `phrase` holds each level name and each of a policy's reasons once per writer.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE scenario (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  question TEXT NOT NULL,  -- what the scenario asks, for people; not part of its identity
  canonical TEXT NOT NULL,
  sha256 TEXT NOT NULL UNIQUE
) STRICT;
CREATE TABLE policy (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  params TEXT NOT NULL,  -- k=v,k=v in canonical order
  UNIQUE (name, version, params)
) STRICT;
CREATE TABLE link_trace (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  reader TEXT NOT NULL,
  unit TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('capacity', 'achieved-throughput')),
  sha256 TEXT NOT NULL,  -- of the source's bytes
  num_rows INTEGER NOT NULL,
  num_skipped INTEGER NOT NULL,
  UNIQUE (sha256, name, reader, unit, kind, num_rows, num_skipped)
) STRICT;
CREATE TABLE codec_profile (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  model TEXT NOT NULL,
  device TEXT NOT NULL,
  source TEXT NOT NULL,
  UNIQUE (sha256, name, model, device, source)
) STRICT;
CREATE TABLE build (
  id INTEGER PRIMARY KEY,
  git_commit TEXT NOT NULL,
  dirty INTEGER NOT NULL CHECK (dirty IN (0, 1)),
  compiler TEXT NOT NULL,
  flags TEXT NOT NULL,
  ns3_version TEXT NOT NULL,
  sqlite_version TEXT NOT NULL,
  UNIQUE (git_commit, dirty, compiler, flags, ns3_version, sqlite_version)
) STRICT;
CREATE TABLE host (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  system TEXT NOT NULL,
  cpu TEXT NOT NULL,
  num_cpus INTEGER NOT NULL,
  UNIQUE (name, system, cpu, num_cpus)
) STRICT;
CREATE TABLE campaign (
  id INTEGER PRIMARY KEY,
  command TEXT NOT NULL,  -- argv, a JSON list
  scenario_argument TEXT NOT NULL,
  link_trace_file TEXT,
  num_replicates INTEGER NOT NULL,
  started_wall_ns INTEGER NOT NULL,
  build_id INTEGER NOT NULL REFERENCES build (id),
  host_id INTEGER NOT NULL REFERENCES host (id)
) STRICT;
CREATE TABLE run (
  id INTEGER PRIMARY KEY,
  scenario_id INTEGER NOT NULL REFERENCES scenario (id),
  policy_id INTEGER NOT NULL REFERENCES policy (id),
  replicate INTEGER NOT NULL,
  tier TEXT NOT NULL,
  seed INTEGER NOT NULL,  -- 64 bits, shown signed
  campaign_id INTEGER NOT NULL REFERENCES campaign (id),
  state TEXT NOT NULL CHECK (state IN ('claimed', 'done')),
  worker TEXT NOT NULL,
  claimed_wall_ns INTEGER NOT NULL,
  link_trace_id INTEGER REFERENCES link_trace (id),
  link_trace_offset_ns INTEGER,
  num_loads INTEGER,
  simulated_time_ns INTEGER,
  gpu_busy_time_ns INTEGER,
  gpu_busy_fraction REAL,
  link_utilisation_fraction REAL,
  bytes_moved INTEGER,
  stored_per_context_bytes INTEGER,
  UNIQUE (scenario_id, policy_id, replicate, tier, seed),
  CHECK (state = 'claimed' OR (num_loads IS NOT NULL AND simulated_time_ns IS NOT NULL
    AND gpu_busy_time_ns IS NOT NULL AND gpu_busy_fraction IS NOT NULL
    AND link_utilisation_fraction IS NOT NULL AND bytes_moved IS NOT NULL
    AND stored_per_context_bytes IS NOT NULL)),
  CHECK ((link_trace_id IS NULL) = (link_trace_offset_ns IS NULL))
) STRICT;
CREATE TABLE run_profile (
  run_id INTEGER NOT NULL REFERENCES run (id),
  profile_id INTEGER NOT NULL REFERENCES codec_profile (id),
  PRIMARY KEY (run_id, profile_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE load (
  run_id INTEGER NOT NULL REFERENCES run (id),
  load_index INTEGER NOT NULL,
  arrived_ns INTEGER NOT NULL,
  slo_ns INTEGER NOT NULL,
  context_tokens INTEGER NOT NULL,
  outcome INTEGER NOT NULL CHECK (outcome BETWEEN 0 AND 2),  -- completed, failed, unfinished
  failure TEXT,
  kv_ready_ns INTEGER,
  first_token_ns INTEGER,
  violated INTEGER NOT NULL CHECK (violated BETWEEN 0 AND 1),
  bytes_moved INTEGER NOT NULL,
  recomputed_tokens INTEGER NOT NULL,
  quality REAL NOT NULL,
  peak_memory_bytes INTEGER NOT NULL,
  PRIMARY KEY (run_id, load_index)
) STRICT, WITHOUT ROWID;
CREATE TABLE phrase (
  id INTEGER PRIMARY KEY,
  words TEXT NOT NULL
) STRICT;
CREATE TABLE chunk (
  run_id INTEGER NOT NULL,
  load_index INTEGER NOT NULL,
  chunk_index INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  action INTEGER NOT NULL CHECK (action BETWEEN 0 AND 2),  -- fetched, recomputed, none
  level_id INTEGER NOT NULL REFERENCES phrase (id),
  bytes INTEGER NOT NULL,
  damage REAL NOT NULL,
  reason_id INTEGER NOT NULL REFERENCES phrase (id),
  requested_ns INTEGER,
  first_byte_ns INTEGER,
  arrived_ns INTEGER,
  compute_began_ns INTEGER,
  resident_ns INTEGER,
  PRIMARY KEY (run_id, load_index, chunk_index),
  FOREIGN KEY (run_id, load_index) REFERENCES load (run_id, load_index)
) STRICT, WITHOUT ROWID;
)sql";

// How far a network tier is from a deeper one, on the runs of this file. Derived from them: not
// part of the content hash, and not merged.
constexpr const char* kVersion2 = R"sql(
CREATE TABLE tier_validation (
  scenario_id INTEGER NOT NULL REFERENCES scenario (id),
  seed INTEGER NOT NULL,
  policy TEXT NOT NULL,  -- name with parameters; empty: all policies together
  tier TEXT NOT NULL,
  reference_tier TEXT NOT NULL,
  num_loads INTEGER NOT NULL,      -- with a first token in both tiers
  num_unmatched INTEGER NOT NULL,  -- with one in one tier only
  error_median REAL,  -- of |TTFT - reference| / reference
  error_p95 REAL,
  bias REAL,          -- mean of (TTFT - reference) / reference
  violations INTEGER NOT NULL,
  reference_violations INTEGER NOT NULL,
  doubts TEXT NOT NULL,  -- why the tier may be wrong there, one line each
  PRIMARY KEY (scenario_id, seed, policy, tier, reference_tier)
) STRICT, WITHOUT ROWID;
)sql";

// A chunk may be reused. SQLite cannot change a CHECK: the table is made again.
constexpr const char* kVersion3 = R"sql(
CREATE TABLE chunk_2 (
  run_id INTEGER NOT NULL,
  load_index INTEGER NOT NULL,
  chunk_index INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  action INTEGER NOT NULL CHECK (action BETWEEN 0 AND 3),  -- fetched, recomputed, none, reused
  level_id INTEGER NOT NULL REFERENCES phrase (id),
  bytes INTEGER NOT NULL,
  damage REAL NOT NULL,
  reason_id INTEGER NOT NULL REFERENCES phrase (id),
  requested_ns INTEGER,
  first_byte_ns INTEGER,
  arrived_ns INTEGER,
  compute_began_ns INTEGER,
  resident_ns INTEGER,
  PRIMARY KEY (run_id, load_index, chunk_index),
  FOREIGN KEY (run_id, load_index) REFERENCES load (run_id, load_index)
) STRICT, WITHOUT ROWID;
INSERT INTO chunk_2 SELECT * FROM chunk;
DROP TABLE chunk;
ALTER TABLE chunk_2 RENAME TO chunk;
)sql";

// A row per load instead of one per chunk, several times faster to write; `chunk` is a view of it.
// chunks: JSON [[index, tokens, action, level, bytes, damage, reason, requested, first_byte,
// arrived, compute_began, resident], ...], instants in ns since the load arrived, null where there
// is none.
constexpr const char* kVersion4 = R"sql(
ALTER TABLE chunk RENAME TO chunk_row;
ALTER TABLE load ADD COLUMN chunks TEXT NOT NULL DEFAULT '[]';
)sql";

// How well the host kept up with an emulated run.
constexpr const char* kVersion5 = R"sql(
CREATE TABLE emu_health (
  run_id INTEGER PRIMARY KEY REFERENCES run (id),
  emulator TEXT NOT NULL,
  link_late_p50_ns INTEGER NOT NULL,
  link_late_p99_ns INTEGER NOT NULL,
  link_late_max_ns INTEGER NOT NULL,
  timer_late_p50_ns INTEGER NOT NULL,
  timer_late_p99_ns INTEGER NOT NULL,
  timer_late_max_ns INTEGER NOT NULL,
  cpu_busy_fraction REAL NOT NULL,
  cpu_stolen_fraction REAL NOT NULL,
  achieved_fraction REAL NOT NULL,
  wire_dropped_bytes INTEGER NOT NULL,
  doubts TEXT NOT NULL  -- empty: the run is valid
) STRICT;
)sql";

// To one version: statements, then what SQL alone cannot do.
struct Migration {
  const char* sql;
  Status (*move_rows)(const Database&) = nullptr;
};

// One row per version, in order; a new version is one more row.
constexpr std::array<Migration, 5> kMigrations{
    Migration{kVersion1}, Migration{kVersion2}, Migration{kVersion3},
    Migration{kVersion4, pack_chunks}, Migration{kVersion5}};
constexpr auto kNewestVersion = static_cast<std::int64_t>(kMigrations.size());

struct FileIdentity {
  std::int64_t application_id = 0, version = 0, num_tables = 0;
  [[nodiscard]] bool is_empty() const {
    return application_id == 0 && version == 0 && num_tables == 0;
  }
};

Result<FileIdentity> identify(const Database& database) {
  FileIdentity identity;
  const struct {
    const char* sql;
    std::int64_t* target;
  } questions[] = {{"PRAGMA application_id", &identity.application_id},
                   {"PRAGMA user_version", &identity.version},
                   {"SELECT count(*) FROM sqlite_schema", &identity.num_tables}};
  for (const auto& [sql, target] : questions) {
    const auto answer = database.find_integer(sql);
    if (!answer) return answer.error();
    *target = answer->value_or(0);
  }
  return identity;
}

// Of one moment, although another process may be making the tables right now: read one by one, an
// id of before and tables of after would look like another program's file.
Result<FileIdentity> identify_at_once(const Database& database) {
  const auto snapshot = Transaction::begin_reading(database);
  if (!snapshot) return snapshot.error();
  return identify(database);
}

Status refuse_strangers(const Database& database, const FileIdentity& identity) {
  if (identity.application_id != kApplicationId) {
    return error_in(database.file(), "is an SQLite file, but not a Sluice store",
                    "name a file written by `./sluice sim --store`, or a new one");
  }
  if (identity.version > kNewestVersion) {
    return error_in(database.file(),
                    fmt::format("has store version {}, this Sluice knows up to {}",
                                identity.version, kNewestVersion),
                    "use a newer Sluice");
  }
  return {};
}

}  // namespace

Status migrate(const Database& database) {
  const auto before = identify_at_once(database);
  if (!before) return before.error();
  if (!before->is_empty()) {
    if (Status known = refuse_strangers(database, *before); !known) return known;
    if (before->version == kNewestVersion) return {};
  }
  auto transaction = Transaction::begin(database);
  if (!transaction) return transaction.error();
  // Another process may have done it while this one waited for the lock.
  const auto now = identify(database);
  if (!now) return now.error();
  for (std::int64_t version = now->version; version < kNewestVersion; ++version) {
    const Migration& step = kMigrations[static_cast<std::size_t>(version)];
    if (Status made = database.execute(step.sql); !made) return made;
    if (step.move_rows != nullptr) {
      if (Status moved = step.move_rows(database); !moved) return moved;
    }
  }
  const Status marked = database.execute(fmt::format(
      "PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId, kNewestVersion));
  if (!marked) return marked;
  return transaction->commit();
}

Status require_current_schema(const Database& database) {
  const auto identity = identify_at_once(database);
  if (!identity) return identity.error();
  if (Status known = refuse_strangers(database, *identity); !known) return known;
  if (identity->version < kNewestVersion) {
    return error_in(database.file(),
                    fmt::format("has the older store version {}", identity->version),
                    "open it once for writing, as `./sluice sim --store` does");
  }
  return {};
}

}  // namespace sluice
