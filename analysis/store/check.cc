#include "analysis/store/check.h"

#include <fmt/format.h>

#include <array>

#include "analysis/store/database.h"
#include "analysis/store/pack_chunks.h"
#include "base/sha256.h"

namespace sluice {
namespace {

constexpr int kMostFindingsPerRule = 10;

// `sql` selects the rows that break the rule.
struct Rule {
  const char* what;
  const char* sql;
};

// The others read chunks.
constexpr Rule kFirstRule{"the chunks of a load are a list", R"sql(
SELECT 'load:' || run_id || '/' || load_index FROM load
WHERE CASE WHEN json_valid(chunks) THEN json_type(chunks) <> 'array' ELSE 1 END)sql"};

constexpr std::array kRules{
    Rule{"a done run has as many loads as it says", R"sql(
SELECT 'run:' || id FROM run
WHERE state = 'done' AND num_loads <> (SELECT count(*) FROM load WHERE run_id = run.id))sql"},
    Rule{"a run that is not done has no loads", R"sql(
SELECT 'run:' || id FROM run
WHERE state <> 'done' AND EXISTS (SELECT 1 FROM load WHERE run_id = run.id))sql"},
    Rule{"a load is ready after it arrived, and its first token comes after that", R"sql(
SELECT 'load:' || run_id || '/' || load_index FROM load
WHERE arrived_ns < 0 OR kv_ready_ns < arrived_ns OR first_token_ns < arrived_ns
  OR first_token_ns < kv_ready_ns)sql"},
    Rule{"a completed load has a first token", R"sql(
SELECT 'load:' || run_id || '/' || load_index FROM load
WHERE outcome = 0 AND first_token_ns IS NULL)sql"},
    Rule{"a load says why it failed exactly when it failed", R"sql(
SELECT 'load:' || run_id || '/' || load_index FROM load
WHERE (outcome = 1) <> (failure IS NOT NULL))sql"},
    Rule{"a load violates its SLO when it did not complete or its TTFT exceeds the SLO", R"sql(
SELECT 'load:' || run_id || '/' || load_index FROM load
WHERE violated <> (outcome <> 0 OR first_token_ns IS NULL OR first_token_ns - arrived_ns > slo_ns))sql"},
    Rule{"the level and the reason of a chunk are phrases", R"sql(
SELECT 'chunk:' || run_id || '/' || load_index || '/' || chunk_index FROM chunk
WHERE NOT EXISTS (SELECT 1 FROM phrase WHERE id = level_id)
  OR NOT EXISTS (SELECT 1 FROM phrase WHERE id = reason_id))sql"},
    Rule{"a load moved the bytes of its chunks", R"sql(
SELECT 'load:' || run_id || '/' || load_index FROM load
WHERE bytes_moved <> (SELECT coalesce(sum(bytes), 0) FROM chunk
  WHERE chunk.run_id = load.run_id AND chunk.load_index = load.load_index))sql"},
    Rule{"a chunk's bytes are asked for, begin, end, in that order", R"sql(
SELECT 'chunk:' || run_id || '/' || load_index || '/' || chunk_index FROM chunk
WHERE first_byte_ns < requested_ns OR arrived_ns < requested_ns OR arrived_ns < first_byte_ns)sql"},
    Rule{"a chunk is resident after its decode or prefill began", R"sql(
SELECT 'chunk:' || run_id || '/' || load_index || '/' || chunk_index FROM chunk
WHERE resident_ns < compute_began_ns)sql"},
};

// The first rows of `sql` as findings.
Status add_findings(const Database& database, const Rule& rule, std::vector<Finding>& findings) {
  Statement select = database.prepare(
      fmt::format("WITH chunk AS ({}) {} LIMIT {}", kChunkQuery, rule.sql, kMostFindingsPerRule));
  return select.for_each([&] {
    findings.push_back({select.text(0), fmt::format("broken rule: {}", rule.what)});
  });
}

Status check_file(const Database& database, std::vector<Finding>& findings) {
  Statement select = database.prepare("PRAGMA integrity_check");
  return select.for_each([&] {
    if (select.text(0) != "ok") findings.push_back({"", "SQLite: " + select.text(0)});
  });
}

Status check_foreign_keys(const Database& database, std::vector<Finding>& findings) {
  Statement select =
      database.prepare("SELECT DISTINCT \"table\", parent FROM pragma_foreign_key_check");
  return select.for_each([&] {
    findings.push_back(
        {select.text(0),
         fmt::format("a row points to a row of `{}` that is not there", select.text(1))});
  });
}

Status check_scenario_hashes(const Database& database, std::vector<Finding>& findings) {
  Statement select = database.prepare("SELECT name, canonical, sha256 FROM scenario");
  return select.for_each([&] {
    if (sha256_hex(select.text(1)) == select.text(2)) return;
    findings.push_back(
        {"scenario " + select.text(0), "broken rule: sha256 is that of the canonical text"});
  });
}

}  // namespace

Result<std::vector<Finding>> check_store(Store& store) {
  const Database& database = store.database();
  const auto snapshot = Transaction::begin_reading(database);
  if (!snapshot) return snapshot.error();
  std::vector<Finding> findings;
  Status done = check_file(database, findings);
  if (!done) return done.error();
  if (!findings.empty()) return findings;  // rows of a damaged file prove nothing
  done = check_foreign_keys(database, findings);
  if (!done) return done.error();
  done = add_findings(database, kFirstRule, findings);
  if (!done) return done.error();
  if (!findings.empty()) return findings;
  for (const Rule& rule : kRules) {
    done = add_findings(database, rule, findings);
    if (!done) return done.error();
  }
  done = check_scenario_hashes(database, findings);
  if (!done) return done.error();
  return findings;
}

}  // namespace sluice
