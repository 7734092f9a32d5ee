// What goes into the store comes out again, field by field, and once only.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/store/content_hash.h"
#include "analysis/store/database.h"
#include "base/sha256.h"
#include "tests/analysis/store_fixture.h"

namespace sluice {
namespace {

TEST_F(StoreTest, EveryFieldOfALoadAndItsChunksComesBack) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok()) << store.error().to_line();
  const RunId run = write_example(*store, add_key(*store, 4), 3);
  const auto loads = store->read_records(run);
  ASSERT_TRUE(loads.ok()) << loads.error().to_line();
  expect_same(example_loads(3), *loads);
  const auto chunks = store->read_chunks(run, 2);
  ASSERT_TRUE(chunks.ok());
  EXPECT_EQ(chunks->at(1).reason, "recompute: 'cheaper'; DROP TABLE chunk; --");
}

TEST_F(StoreTest, ValidationsComeBackAndAreReplacedNotDoubled) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  write_example(*store, add_key(*store, 4), 3);
  const std::string sha256 = store->read_runs({})->front().scenario_sha256;
  std::vector<ValidationRow> rows{
      {.policy = "",
       .tier = "fluid",
       .reference_tier = "packet",
       .num_loads = 3,
       .num_unmatched = 1,
       .error_median = 0.01,
       .error_p95 = 0.04,
       .bias = -0.02,
       .violations = 2,
       .reference_violations = 1,
       .doubts = "loss"},
      {.policy = "recompute", .tier = "fluid", .reference_tier = "packet"}};
  ASSERT_TRUE(store->write_validation(sha256, 7, rows).ok());
  rows[0].num_loads = 5;
  ASSERT_TRUE(store->write_validation(sha256, 7, rows).ok());
  const auto read = store->read_validation(sha256, 7);
  ASSERT_TRUE(read.ok()) << read.error().to_line();
  EXPECT_EQ(*read, rows);
  EXPECT_TRUE(store->read_validation(sha256, 8)->empty()) << "another seed";
  EXPECT_FALSE(store->write_validation("no such scenario", 7, rows).ok());
}

TEST_F(StoreTest, AReusedChunkComesBackAsOne) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  std::vector<LoadRecord> loads = example_loads(1);
  loads[0].chunks[0].action = ChunkAction::kReused;
  loads[0].chunks[0].level = kReusedLevel;
  const RunKey key = add_key(*store, 0);
  ASSERT_TRUE(store->claim(key, *store->add_campaign(example_campaign())).ok());
  const auto run = store->write_run(key, {}, example_metrics(), loads);
  ASSERT_TRUE(run.ok()) << run.error().to_line();
  expect_same(loads, *store->read_records(*run));
}

// Chunks as version 2 had them, in a table, where an action above 2 was refused.
constexpr const char* kBackToVersion2 = R"sql(
CREATE TABLE old AS SELECT * FROM chunk;
DROP VIEW chunk;
ALTER TABLE load DROP COLUMN chunks;
CREATE TABLE chunk (run_id INTEGER NOT NULL, load_index INTEGER NOT NULL,
  chunk_index INTEGER NOT NULL, tokens INTEGER NOT NULL,
  action INTEGER NOT NULL CHECK (action BETWEEN 0 AND 2),
  level_id INTEGER NOT NULL REFERENCES phrase (id), bytes INTEGER NOT NULL, damage REAL NOT NULL,
  reason_id INTEGER NOT NULL REFERENCES phrase (id), requested_ns INTEGER, first_byte_ns INTEGER,
  arrived_ns INTEGER, compute_began_ns INTEGER, resident_ns INTEGER,
  PRIMARY KEY (run_id, load_index, chunk_index),
  FOREIGN KEY (run_id, load_index) REFERENCES load (run_id, load_index)) STRICT, WITHOUT ROWID;
INSERT INTO chunk SELECT * FROM old;
DROP TABLE old;
DROP TABLE emu_health;
PRAGMA user_version = 2;
)sql";

TEST_F(StoreTest, AStoreOfVersion2KeepsItsRowsAndItsContentHashAndTakesReusedChunks) {
  std::string before;
  {
    auto store = Store::open(file());
    ASSERT_TRUE(store.ok());
    write_example(*store, add_key(*store, 4), 3);
    before = *content_hash(*store);
  }
  {
    const auto raw = Database::open(file(), OpenMode::kExisting);
    ASSERT_TRUE(raw.ok());
    const Status old = raw->execute(kBackToVersion2);
    ASSERT_TRUE(old.ok()) << old.error().to_line();
  }
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok()) << store.error().to_line();
  EXPECT_EQ(*content_hash(*store), before);
  expect_same(example_loads(3), *store->read_records(RunId{1}));
  std::vector<LoadRecord> reused = example_loads(1);
  reused[0].chunks[0].action = ChunkAction::kReused;
  const RunKey key = add_key(*store, 5);
  ASSERT_TRUE(store->claim(key, *store->add_campaign(example_campaign())).ok());
  EXPECT_TRUE(store->write_run(key, {}, example_metrics(), reused).ok());
}

TEST_F(StoreTest, TheHealthOfAnEmulatedRunComesBackAndOfASimulatedOneThereIsNone) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  RunMetrics metrics = example_metrics();
  metrics.health = HostHealth{.emulator = "tun",
                              .link_late_p50 = Duration{1},
                              .link_late_p99 = Duration{2},
                              .link_late_max = Duration{3},
                              .timer_late_p50 = Duration{4},
                              .timer_late_p99 = Duration{5},
                              .timer_late_max = Duration{6},
                              .cpu_busy = 0.5,
                              .cpu_stolen = 0.25,
                              .achieved_share = 0.75,
                              .wire_dropped = DataSize::bytes(7),
                              .doubts = "the processors were busy all the time"};
  const RunKey key = add_key(*store, 4);
  ASSERT_TRUE(store->claim(key, *store->add_campaign(example_campaign())).ok());
  ASSERT_TRUE(store->write_run(key, {}, metrics, example_loads(1)).ok());
  write_example(*store, add_key(*store, 5), 1);
  const auto runs = store->read_runs({});
  ASSERT_TRUE(runs.ok() && runs->size() == 2);
  EXPECT_EQ((*runs)[0].metrics.health, metrics.health);
  EXPECT_FALSE((*runs)[1].metrics.health);
}

TEST_F(StoreTest, EveryFieldOfARunComesBackFromAnotherProcessesFile) {
  {
    auto store = Store::open(file());
    ASSERT_TRUE(store.ok());
    write_example(*store, add_key(*store, 4), 3);
  }
  auto store = Store::open_to_read(file());
  ASSERT_TRUE(store.ok()) << store.error().to_line();
  const auto runs = store->read_runs({});
  ASSERT_TRUE(runs.ok() && runs->size() == 1);
  const RunRow& run = runs->front();
  EXPECT_EQ(run.scenario, "edge-fluctuating");
  EXPECT_EQ(std::tie(run.policy.name, run.policy.version, run.policy.params),
            std::make_tuple("seed-ratio", "1", "k=1"));
  EXPECT_EQ(std::tie(run.replicate, run.tier, run.seed, run.done),
            std::make_tuple(4, "fluid", 7u, true));
  EXPECT_EQ(std::tie(run.num_loads, run.num_violated), std::make_tuple(3, 1));  // the failed one
  const LinkTraceFacts trace = example_trace();
  ASSERT_TRUE(run.link_trace);
  EXPECT_EQ(std::tie(run.link_trace->name, run.link_trace->reader, run.link_trace->unit,
                     run.link_trace->sha256, run.link_trace->kind, run.link_trace->num_rows,
                     run.link_trace->num_skipped),
            std::tie(trace.name, trace.reader, trace.unit, trace.sha256, trace.kind, trace.num_rows,
                     trace.num_skipped));
  EXPECT_EQ(run.link_trace_offset, nanoseconds(12'500'000'000));
  const ProfileFacts profile = example_profile();
  ASSERT_EQ(run.profiles.size(), 1u);
  EXPECT_EQ(std::tie(run.profiles[0].name, run.profiles[0].sha256, run.profiles[0].model,
                     run.profiles[0].device, run.profiles[0].source),
            std::tie(profile.name, profile.sha256, profile.model, profile.device, profile.source));
  const RunMetrics metrics = example_metrics();
  EXPECT_EQ(std::tie(run.metrics.simulated_time, run.metrics.gpu_busy_time,
                     run.metrics.gpu_busy_fraction, run.metrics.link_utilisation,
                     run.metrics.bytes_moved, run.metrics.stored_per_context),
            std::tie(metrics.simulated_time, metrics.gpu_busy_time, metrics.gpu_busy_fraction,
                     metrics.link_utilisation, metrics.bytes_moved, metrics.stored_per_context));
}

TEST_F(StoreTest, TheCommandBuildAndHostComeBack) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  const CampaignFacts wrote = example_campaign();
  const auto id = store->add_campaign(wrote);
  ASSERT_TRUE(id.ok()) << id.error().to_line();
  const auto read = store->read_campaign(*id);
  ASSERT_TRUE(read.ok()) << read.error().to_line();
  EXPECT_EQ(std::tie(wrote.command, wrote.scenario_argument, wrote.link_trace_file,
                     wrote.num_replicates, wrote.started_at),
            std::tie(read->command, read->scenario_argument, read->link_trace_file,
                     read->num_replicates, read->started_at));
  EXPECT_EQ(std::tie(wrote.build.commit, wrote.build.dirty, wrote.build.compiler, wrote.build.flags,
                     wrote.build.ns3_version, wrote.build.sqlite_version),
            std::tie(read->build.commit, read->build.dirty, read->build.compiler, read->build.flags,
                     read->build.ns3_version, read->build.sqlite_version));
  EXPECT_EQ(std::tie(wrote.host.name, wrote.host.system, wrote.host.cpu, wrote.host.num_cpus),
            std::tie(read->host.name, read->host.system, read->host.cpu, read->host.num_cpus));
}

TEST_F(StoreTest, AScenarioComesBackByItsHashAndItsQuestionDoesNotTellItApart) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  const ScenarioFacts wrote{.name = "a", .canonical = "x", .question = "which rule is in time?"};
  const auto id = store->add_scenario(wrote);
  ASSERT_TRUE(id.ok()) << id.error().to_line();
  EXPECT_EQ(*id, *store->add_scenario({.name = "a", .canonical = "x", .question = "other words"}));
  const auto read = store->read_scenario(sha256_hex(std::string_view("x")));
  ASSERT_TRUE(read.ok()) << read.error().to_line();
  EXPECT_EQ(std::tie(wrote.name, wrote.canonical, wrote.question),
            std::tie(read->name, read->canonical, read->question));
  EXPECT_FALSE(store->read_scenario("no such hash").ok());
}

TEST_F(StoreTest, TheSameInputsGiveTheSameIds) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(*store->add_scenario({.name = "a", .canonical = "x"}),
            *store->add_scenario({.name = "a", .canonical = "x"}));
  EXPECT_NE(*store->add_scenario({.name = "a", .canonical = "x"}),
            *store->add_scenario({.name = "a", .canonical = "y"}));
  EXPECT_EQ(*store->add_policy({.name = "p"}), *store->add_policy({.name = "p"}));
  EXPECT_NE(*store->add_policy({.name = "p"}), *store->add_policy({.name = "p", .params = "k=1"}));
  EXPECT_EQ(*store->add_link_trace(example_trace()), *store->add_link_trace(example_trace()));
  EXPECT_EQ(*store->add_profile(example_profile()), *store->add_profile(example_profile()));
  CampaignFacts no_trace = example_campaign();
  no_trace.link_trace_file.reset();
  EXPECT_EQ(*store->add_campaign(no_trace), *store->add_campaign(no_trace));
  EXPECT_NE(*store->add_campaign(no_trace), *store->add_campaign(example_campaign()));
}

TEST_F(StoreTest, ScoringRowsCountChunksAndTokensPerLevel) {
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  write_example(*store, add_key(*store, 0), 2);
  write_example(*store, add_key(*store, 1), 2);
  write_example(*store, add_key(*store, 0, "fixed"), 2);
  const auto table = store->read_loads({.policy = "seed-ratio"});
  ASSERT_TRUE(table.ok()) << table.error().to_line();
  ASSERT_EQ(table->loads.size(), 4u);
  EXPECT_THAT(table->levels, testing::ElementsAre(
                                 "cachegen-released@2"));  // cancelled and recomputed do not count
  const LoadRow& load = table->loads[2];                   // the first of replicate 1
  EXPECT_EQ(std::tie(load.replicate, load.index, load.violated), std::make_tuple(1, 0, false));
  EXPECT_EQ(load.ttft, nanoseconds(250'000'000));
  ASSERT_EQ(load.levels.size(), 1u);
  EXPECT_EQ(std::tie(load.levels[0].level, load.levels[0].num_chunks, load.levels[0].num_tokens),
            std::make_tuple(0, 1, 1500));
  EXPECT_EQ(std::tie(load.recomputed_tokens, load.context_tokens), std::make_tuple(700, 2201));
  EXPECT_TRUE(table->loads[3].violated);  // failed
  EXPECT_EQ(table->loads[3].ttft, std::nullopt);
}

TEST_F(StoreTest, NamesThatLookLikeSqlAreJustText) {
  const std::string evil = "x'); DROP TABLE run; --\n\"`;\xc3\xa9";
  auto store = Store::open(file());
  ASSERT_TRUE(store.ok());
  write_example(*store, add_key(*store, 0, evil));
  const auto runs = store->read_runs({.policy = evil});
  ASSERT_TRUE(runs.ok());
  ASSERT_EQ(runs->size(), 1u);
  EXPECT_EQ(runs->front().policy.name, evil);
}

TEST_F(StoreTest, OneNanosecondChangesTheHashAndTheOrderOfWritingDoesNot) {
  const auto hash_of = [&](const std::string& name,
                           const std::vector<std::pair<std::int64_t, std::int64_t>>& runs) {
    auto store = Store::open(file(name));
    EXPECT_TRUE(store.ok());
    for (const auto& [replicate, salt] : runs)
      write_example(*store, add_key(*store, replicate), 3, salt);
    const auto hash = content_hash(*store);
    EXPECT_TRUE(hash.ok());
    return *hash;
  };
  const std::string plain = hash_of("a.db", {{0, 0}, {1, 0}});
  EXPECT_EQ(plain.size(), 64u);
  EXPECT_EQ(plain, hash_of("b.db", {{1, 0}, {0, 0}}));
  EXPECT_NE(plain, hash_of("c.db", {{0, 0}, {1, 1}}));
  EXPECT_NE(plain, hash_of("d.db", {{0, 0}}));
}

}  // namespace
}  // namespace sluice
