// From stored runs to verdicts: the rows, the names, and the program as a user meets it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "analysis/score/from_store.h"
#include "analysis/score/policy_names.h"
#include "base/files.h"
#include "tests/analysis/store_fixture.h"

namespace sluice {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// One completed load in each of `ttft_ms`, against an SLO of 1 s; one chunk of 1000 tokens at int8.
std::vector<LoadRecord> loads_with(const std::vector<int>& ttft_ms) {
  std::vector<LoadRecord> loads;
  for (const int ms : ttft_ms) {
    LoadRecord load;
    load.index = static_cast<std::int64_t>(loads.size());
    load.slo = std::chrono::seconds(1);
    load.context_tokens = 1000;
    load.outcome = LoadOutcome::kCompleted;
    load.kv_ready_at = load.first_token_at = load.arrived_at + std::chrono::milliseconds(ms);
    load.bytes_moved = DataSize::bytes(5'000'000);
    load.quality = 0.75;
    ChunkRecord chunk;
    chunk.tokens = 1000;
    chunk.action = ChunkAction::kFetched;
    chunk.level = "int8@token";
    chunk.bytes = load.bytes_moved;
    load.chunks = {chunk};
    loads.push_back(load);
  }
  return loads;
}

struct Written {
  std::string policy, params;
  std::int64_t replicate = 0;
  std::vector<LoadRecord> loads;
  std::string trace = "t";  // its hash, padded
  std::string tier = "fluid";
  std::string scenario = "edge";
  bool finish = true;
  std::optional<HostHealth> health;
};

void write(Store& store, const Written& run) {
  const auto scenario =
      store.add_scenario({.name = run.scenario, .canonical = "name: " + run.scenario});
  const auto policy = store.add_policy({.name = run.policy, .version = "1", .params = run.params});
  LinkTraceFacts trace = example_trace();
  trace.sha256 = run.trace + std::string(64 - run.trace.size(), '0');
  const auto link = store.add_link_trace(trace);
  const auto profile = store.add_profile(example_profile());
  const auto campaign = store.add_campaign(example_campaign());
  ASSERT_TRUE(scenario.ok() && policy.ok() && link.ok() && profile.ok() && campaign.ok());
  const RunKey key{.scenario = *scenario,
                   .policy = *policy,
                   .replicate = run.replicate,
                   .tier = run.tier,
                   .seed = 7};
  ASSERT_TRUE(store.claim(key, *campaign).ok());
  if (!run.finish) return;
  RunMetrics metrics = example_metrics();
  metrics.health = run.health;
  const auto written =
      store.write_run(key, {.link_trace = *link, .link_trace_offset = {}, .profiles = {*profile}},
                      metrics, run.loads);
  ASSERT_TRUE(written.ok()) << written.error().to_line();
}

class ScoreStoreTest : public StoreTest {
 protected:
  [[nodiscard]] Store open() { return std::move(*Store::open(file())); }
  [[nodiscard]] std::vector<ScoreInput> inputs(Store& store) {
    auto read = read_score_inputs(store, {});
    EXPECT_TRUE(read.ok()) << read.error().to_line();
    return *read;
  }
  // Of the loads of the first policy.
  [[nodiscard]] std::vector<std::int64_t> clusters_in(Store& store) {
    const auto read = inputs(store);
    std::vector<std::int64_t> clusters;
    for (const ScoredLoad& load : read[0].policies[0].loads) clusters.push_back(load.cluster);
    return clusters;
  }
  // "slow" violates in all 40 loads, "fast" in none.
  void write_slow_and_fast() {
    Store store = open();
    for (std::int64_t r = 0; r < 20; ++r) {
      const std::string trace = "t" + std::to_string(r + 10);
      write(store, {.policy = "fixed",
                    .params = "level=int8@token",
                    .replicate = r,
                    .loads = loads_with({2000, 3000}),
                    .trace = trace});
      write(store, {.policy = "seed-ratio",
                    .params = "",
                    .replicate = r,
                    .loads = loads_with({500, 600}),
                    .trace = trace});
    }
  }
};

TEST_F(ScoreStoreTest, AnEmulatedRunOnAHostThatDidNotKeepUpIsLeftOutAndANoteSaysSo) {
  Store store = open();
  const HostHealth good{.emulator = "tun"};
  HostHealth bad = good;
  bad.doubts = "timers were 40 ms late";
  write(store, {.policy = "recompute",
                .replicate = 0,
                .loads = loads_with({500}),
                .tier = "emu",
                .health = good});
  write(store, {.policy = "recompute",
                .replicate = 1,
                .loads = loads_with({5000}),
                .tier = "emu",
                .health = bad});
  const auto read = inputs(store);
  ASSERT_EQ(read.size(), 1u);
  ASSERT_EQ(read[0].policies[0].loads.size(), 1u);
  EXPECT_FALSE(read[0].policies[0].loads[0].violated);
  EXPECT_THAT(read[0].notes, testing::Contains(HasSubstr("1 emulated runs are left out")));
}

TEST_F(ScoreStoreTest, RowsBecomeLoadsWithTheirLevelsAndProfiles) {
  Store store = open();
  std::vector<LoadRecord> loads = loads_with({500, 2000, 700, 300});
  loads[1].outcome = LoadOutcome::kFailed;
  loads[1].chunks[0].action = ChunkAction::kNone;
  loads[2].recomputed_tokens = 1000;
  loads[2].chunks[0].action = ChunkAction::kRecomputed;
  loads[2].chunks[0].level = "";
  loads[3].chunks[0].action = ChunkAction::kReused;
  loads[3].chunks[0].level = kReusedLevel;
  write(store, {.policy = "fixed", .params = "level=int8@token", .loads = loads});
  const auto read = inputs(store);
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].scenario, "edge");
  EXPECT_EQ(read[0].tier, "fluid");
  EXPECT_EQ(read[0].seed, 7u);
  ASSERT_EQ(read[0].policies.size(), 1u);
  const PolicyInput& policy = read[0].policies[0];
  EXPECT_EQ(policy.policy, "fixed:level=int8@token");
  EXPECT_EQ(policy.profile, "cachegen-mistral-7b (published: CacheGen, table 1)");
  ASSERT_EQ(policy.loads.size(), 4u);
  EXPECT_FALSE(policy.loads[0].violated);
  EXPECT_EQ(policy.loads[0].ttft, Duration(std::chrono::milliseconds(500)));
  EXPECT_TRUE(policy.loads[1].violated);
  EXPECT_EQ(policy.loads[1].ttft,
            std::nullopt);  // a failed load has no first token, whatever was noted
  EXPECT_EQ(policy.loads[1].quality, std::nullopt);
  EXPECT_EQ(policy.tokens_by_level,
            (std::map<std::string, std::int64_t>{
                {"int8@token", 1000}, {"none", 1000}, {"recompute", 1000}, {"reused", 1000}}));
  EXPECT_EQ(policy.runs.size(), 1u);
}

TEST_F(ScoreStoreTest, ScenariosAndTiersAreNeverMixed) {
  Store store = open();
  write(store, {.policy = "fixed", .params = "", .loads = loads_with({500})});
  write(store, {.policy = "fixed", .params = "", .loads = loads_with({500}), .tier = "burst"});
  write(store,
        {.policy = "fixed", .params = "", .loads = loads_with({500}), .scenario = "datacenter"});
  const auto read = inputs(store);
  ASSERT_EQ(read.size(), 3u);
  EXPECT_EQ(read[0].scenario + read[0].tier, "datacenterfluid");
  EXPECT_EQ(read[1].scenario + read[1].tier, "edgeburst");
  EXPECT_EQ(read[2].scenario + read[2].tier, "edgefluid");
}

TEST_F(ScoreStoreTest, ReplicatesOnOneOfSeveralTracesAreOneCluster) {
  Store store = open();
  const std::vector<std::string> traces{"a", "b", "a", "b"};
  for (std::int64_t r = 0; r < 4; ++r) {
    write(store, {.policy = "fixed",
                  .params = "",
                  .replicate = r,
                  .loads = loads_with({500}),
                  .trace = traces[static_cast<std::size_t>(r)]});
  }
  EXPECT_THAT(clusters_in(store), ElementsAre(0, 1, 0, 1));
}

TEST_F(ScoreStoreTest, ReplicatesOfOneTraceAreEachACluster) {
  Store store = open();
  for (std::int64_t r = 0; r < 3; ++r) {
    write(store, {.policy = "fixed", .params = "", .replicate = r, .loads = loads_with({500})});
  }
  EXPECT_THAT(clusters_in(store), ElementsAre(0, 1, 2));
}

TEST_F(ScoreStoreTest, RunsNotDoneAreLeftOutAndSaidSo) {
  Store store = open();
  write(store, {.policy = "fixed", .params = "", .loads = loads_with({500})});
  write(store, {.policy = "fixed", .params = "", .replicate = 1, .loads = {}, .finish = false});
  const auto read = inputs(store);
  ASSERT_EQ(read[0].notes.size(), 1u);
  EXPECT_THAT(read[0].notes[0], HasSubstr("1 runs are not done"));
}

TEST_F(ScoreStoreTest, TheSelectionNarrowsAndOrders) {
  write_slow_and_fast();
  Store store = open();
  write(store,
        {.policy = "recompute", .params = "", .loads = loads_with({500, 500}), .trace = "t10"});
  const auto two =
      read_score_inputs(store, {.tier = "fluid"}, {.policies = {"seed-ratio", "fixed"}, .seed = 7});
  ASSERT_TRUE(two.ok()) << two.error().to_line();
  EXPECT_THAT(policy_names(two->front()), ElementsAre("seed-ratio", "fixed:level=int8@token"));
  const auto first = read_score_inputs(store, {}, {.num_replicates = 1});
  ASSERT_TRUE(first.ok()) << first.error().to_line();
  EXPECT_EQ(first->front().policies.size(), 3u);
  for (const PolicyInput& policy : first->front().policies)
    EXPECT_EQ(policy.loads.size(), 2u) << policy.policy;
  EXPECT_TRUE(score(first->front(), {}).ok());
  EXPECT_FALSE(read_score_inputs(store, {}, {.only_replicate = 0})->empty());
  EXPECT_TRUE(read_score_inputs(store, {}, {.only_replicate = 77})->empty());
  EXPECT_TRUE(read_score_inputs(store, {}, {.seed = 8})->empty());
  EXPECT_FALSE(read_score_inputs(store, {}, {.policies = {"sed-ratio"}}).ok());
}

TEST(PolicyNames, AsMuchAsTellsThemApartIsEnough) {
  const std::vector<std::string> known{"fixed:level=1", "fixed:level=2,k=3", "recompute"};
  EXPECT_EQ(*find_policy("recompute", known, "--policy"), "recompute");
  EXPECT_EQ(*find_policy("fixed:k=3", known, "--policy"), "fixed:level=2,k=3");
  EXPECT_EQ(find_policy("fixed", known, "--policy").error().to_line(),
            "error: --policy: `fixed` may be any of fixed:level=1, fixed:level=2,k=3; add a "
            "parameter that tells them apart");
  EXPECT_EQ(find_policy("recomptue", known, "--policy").error().to_line(),
            "error: --policy: no policy `recomptue` was run; did you mean `recompute`?");
  EXPECT_FALSE(find_policy("", known, "--policy").ok());
  EXPECT_FALSE(find_policy("fixed:", std::vector<std::string>{}, "--policy").ok());
}

struct Output {
  int exit_code = 0;
  std::string out, err;
};

class CompareTest : public ScoreStoreTest {
 protected:
  [[nodiscard]] Output compare(const std::string& arguments) {
    const std::string command = std::string(SLUICE_BIN_DIR) + "/sluice-compare " + arguments +
                                " >" + file("out").string() + " 2>" + file("err").string();
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, *read_file(file("out")),
            *read_file(file("err"))};
  }
};

TEST_F(CompareTest, PrintsTheTableAndASentencePerPair) {
  write_slow_and_fast();
  const Output output = compare("--store " + file().string());
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_EQ(output.err, "");
  EXPECT_THAT(
      output.out,
      HasSubstr("fixed:level=int8@token     40  100.0 % [91.2, 100.0]        2.000   3.000"));
  EXPECT_THAT(
      output.out,
      HasSubstr("fixed:level=int8@token violates 100.0 points more than seed-ratio [82.5, 100.0], "
                "p < 0.001: worse\n"));
}

TEST_F(CompareTest, ABaselineIsFoundByItsNameAlone) {
  write_slow_and_fast();
  const Output output = compare("--store " + file().string() + " --baseline fixed --format json");
  EXPECT_EQ(output.exit_code, 0) << output.err;
  const auto json = nlohmann::json::parse(output.out);
  EXPECT_EQ(json["store"], file().string());
  ASSERT_EQ(json["pairs"].size(), 1u);
  EXPECT_EQ(json["pairs"][0]["a"], "seed-ratio");
  EXPECT_EQ(json["pairs"][0]["b"], "fixed:level=int8@token");
  EXPECT_EQ(json["pairs"][0]["verdict"], "better");
  EXPECT_EQ(json["policies"][0]["levels"]["int8@token"], 1.0);
}

TEST_F(CompareTest, CsvOfPairsAndOfOnePolicy) {
  write_slow_and_fast();
  const Output pairs = compare("--store " + file().string() + " --format csv --pairs");
  EXPECT_THAT(pairs.out, HasSubstr(",fluid,7,fixed:level=int8@token,seed-ratio,1,0.82"));
  const Output one = compare("--store " + file().string() + " --format csv --policy seed-ratio");
  EXPECT_EQ(std::count(one.out.begin(), one.out.end(), '\n'), 2);
}

TEST_F(CompareTest, SeveralTiersAreABlockEachAndCanBeNarrowed) {
  write_slow_and_fast();
  {
    Store store = open();
    write(store,
          {.policy = "seed-ratio", .params = "", .loads = loads_with({500}), .tier = "burst"});
  }
  const Output text = compare("--store " + file().string());
  EXPECT_THAT(text.out, HasSubstr("), tier burst, seed 7\n\npolicy"));
  EXPECT_THAT(text.out, HasSubstr("), tier fluid, seed 7\n\npolicy"));
  const auto json =
      nlohmann::json::parse(compare("--store " + file().string() + " --format json").out);
  ASSERT_EQ(json["comparisons"].size(), 2u);
  EXPECT_EQ(json["comparisons"][0]["tier"], "burst");
  const Output narrowed = compare("--store " + file().string() + " --tier burst --format json");
  EXPECT_EQ(nlohmann::json::parse(narrowed.out)["tier"], "burst");
}

TEST_F(CompareTest, EveryFaultIsOneLineThatNamesItAndAFix) {
  write_slow_and_fast();
  const std::string store = "--store " + file().string();
  struct Fault {
    std::string arguments, line;
  };
  for (const Fault& fault : {
           Fault{store + " --baseline fixd",
                 "error: --baseline: no policy `fixd` was run; did you mean `fixed`?"},
           Fault{store + " --policy seedratio",
                 "error: --policy: no policy `seedratio` was run; did you mean `seed-ratio`?"},
           Fault{store + " --tier brust", "error: --tier: no runs of tier `brust`"},
           Fault{store + " --scenario edgy", "error: --scenario: no runs of scenario `edgy`"},
           Fault{store + " --delta 1",
                 "error: --delta: `1` is not a share below 100%; write it with its unit, as in 1%"},
           Fault{store + " --replicates 0",
                 "error: --replicates: `0` is not a number of replicates"},
           Fault{store + " --delta -1%", "error: --delta: `-1%` is not"},
           Fault{store + " --format jsno",
                 "error: --format: unknown format `jsno`; did you mean `json`?"},
           Fault{store + " --frmat json", "error: "},
           Fault{"", "error: "},
       }) {
    const Output output = compare(fault.arguments);
    EXPECT_NE(output.exit_code, 0) << fault.arguments;
    EXPECT_THAT(output.err, testing::StartsWith(fault.line)) << fault.arguments;
    EXPECT_EQ(std::count(output.err.begin(), output.err.end(), '\n'), 1) << output.err;
    EXPECT_EQ(output.out, "") << fault.arguments;
  }
}

TEST_F(CompareTest, AMissingStoreIsNotMade) {
  const Output output = compare("--store " + file("missing.db").string());
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_THAT(output.err, HasSubstr("missing.db"));
  EXPECT_FALSE(std::filesystem::exists(file("missing.db")));
}

TEST_F(CompareTest, AnEmptyStoreSaysHowToFillIt) {
  { const Store store = open(); }
  const Output output = compare("--store " + file().string());
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_THAT(output.err,
              HasSubstr("no run in this store is done; fill it: ./sluice sim SCENARIO --store"));
}

TEST_F(CompareTest, AFileThatIsNotAStoreIsRefused) {
  ASSERT_TRUE(write_file_atomically(file("text.db"), "policy,loads\n").ok());
  const Output output = compare("--store " + file("text.db").string());
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_THAT(output.err, testing::StartsWith("error: "));
  EXPECT_EQ(*read_file(file("text.db")), "policy,loads\n");
}

TEST_F(CompareTest, HelpShowsAnExample) {
  const Output output = compare("--help");
  EXPECT_EQ(output.exit_code, 0);
  EXPECT_THAT(output.out, HasSubstr("example: ./sluice compare --store runs.db --baseline fixed"));
}

TEST_F(CompareTest, PoliciesThatDidNotMeetTheSameLoadsAreRefused) {
  write_slow_and_fast();
  {
    Store store = open();
    write(store,
          {.policy = "recompute", .params = "", .loads = loads_with({500, 500}), .trace = "t10"});
  }
  const Output output = compare("--store " + file().string());
  EXPECT_EQ(output.exit_code, 1);
  EXPECT_THAT(
      output.err,
      HasSubstr(
          "policy `recompute` lacks load 0 of replicate 1, which `fixed:level=int8@token` has"));
  EXPECT_EQ(compare("--store " + file().string() + " --policy fixed --policy seed-ratio").exit_code,
            0);
}

}  // namespace
}  // namespace sluice
