// Loads from a workload trace: arrivals, lengths and what is resident, checkable by head. And
// contexts that share prefixes without a trace.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/sha256.h"
#include "sim/serving/draws.h"
#include "sim/serving/run.h"
#include "tests/scenario/scenario_files.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Five requests in blocks of 512 tokens: 1 2 | 1 2 3 | 9 | 1 2 4 | 1 2 3.
const std::string kFive =
    R"({"timestamp": 0, "input_length": 1024, "output_length": 1, "hash_ids": [1, 2]}
{"timestamp": 0, "input_length": 1536, "output_length": 1, "hash_ids": [1, 2, 3]}
{"timestamp": 3000, "input_length": 512, "output_length": 1, "hash_ids": [9]}
{"timestamp": 3000, "input_length": 1536, "output_length": 1, "hash_ids": [1, 2, 4]}
{"timestamp": 6000, "input_length": 1536, "output_length": 1, "hash_ids": [1, 2, 3]}
)";
const std::string kDrawn =
    "  arrivals: isolated\n  loads: 2\n  context_tokens: {low: 1000, high: 4000}\n";

// The small scenario in chunks of 512 tokens with this workload.
std::string with_workload(const std::string& workload) {
  write_text("five.jsonl", kFive);
  return replaced(replaced(kSmallScenario, "chunk_tokens: 1500", "chunk_tokens: 512"), kDrawn,
                  workload);
}

Scenario scenario_of(const std::string& workload) {
  Result<Scenario> s = read_text(with_workload(workload));
  EXPECT_TRUE(s.ok()) << (s ? "" : s.error().to_line());
  return s ? *s : *read_text(kSmallScenario);
}

std::string error_of(const std::string& workload) {
  const Result<Scenario> s = read_text(with_workload(workload));
  return s ? "no error" : s.error().to_line();
}

const std::string kAll = "  trace: five.jsonl\n  start: 0\n  loads: 5\n";

std::vector<LoadDraw> loads_of(const std::string& workload, std::int64_t replicate = 0) {
  const Result<ReplicateDraws> draws = draw_replicate(scenario_of(workload), replicate);
  EXPECT_TRUE(draws.ok()) << (draws ? "" : draws.error().to_line());
  return draws ? draws->loads : std::vector<LoadDraw>{};
}

std::vector<std::int64_t> residents(const std::vector<LoadDraw>& loads) {
  std::vector<std::int64_t> tokens;
  for (const LoadDraw& load : loads) tokens.push_back(load.resident_tokens);
  return tokens;
}
std::vector<std::int64_t> contexts(const std::vector<LoadDraw>& loads) {
  std::vector<std::int64_t> tokens;
  for (const LoadDraw& load : loads) tokens.push_back(load.context_tokens);
  return tokens;
}
std::vector<std::int64_t> arrivals_ms(const std::vector<LoadDraw>& loads) {
  std::vector<std::int64_t> ms;
  for (const LoadDraw& load : loads) ms.push_back((load.arrives_at - kRunStart) / 1ms);
  return ms;
}

TEST(Replay, ArrivalsAndLengthsAreTheTraces) {
  const std::vector<LoadDraw> loads = loads_of(kAll);
  EXPECT_THAT(contexts(loads), ElementsAre(1024, 1536, 512, 1536, 1536));
  EXPECT_THAT(arrivals_ms(loads), ElementsAre(0, 0, 3000, 3000, 6000));
  EXPECT_THAT(residents(loads), ElementsAre(0, 0, 0, 0, 0));  // no prefix cache
}

TEST(Replay, TimeScaleMultipliesTheTimesBetweenArrivals) {
  EXPECT_THAT(arrivals_ms(loads_of(kAll + "  time_scale: 0.5\n")),
              ElementsAre(0, 0, 1500, 1500, 3000));
}

TEST(Replay, DebunchingSpreadsEachArrivalOverItsTimeAndIsSeeded) {
  const std::string spread = kAll + "  debunch: 3s\n";
  const std::vector<LoadDraw> loads = loads_of(spread);
  const std::vector<std::int64_t> ms = arrivals_ms(loads);
  ASSERT_EQ(ms.size(), 5U);
  EXPECT_TRUE(std::is_sorted(ms.begin(), ms.end()));
  // The two of stamp 0, then the two of stamp 3 s, then the one of 6 s.
  for (std::size_t i = 0; i < 5; ++i) {
    const std::int64_t stamp = i < 2 ? 0 : i < 4 ? 3000 : 6000;
    EXPECT_GE(ms[i], stamp);
    EXPECT_LT(ms[i], stamp + 3000);
  }
  EXPECT_NE(ms[0], ms[1]);
  EXPECT_EQ(arrivals_ms(loads_of(spread)), ms);
  EXPECT_NE(arrivals_ms(loads_of(spread, 1)), ms);
}

TEST(Replay, TheTraceCanGiveLengthsAndPrefixesAlone) {
  const std::vector<LoadDraw> loads =
      loads_of(kAll + "  arrivals: {every: 10s}\n  prefix_cache: {tokens: 100000}\n");
  EXPECT_THAT(arrivals_ms(loads), ElementsAre(0, 10'000, 20'000, 30'000, 40'000));
  EXPECT_THAT(residents(loads), ElementsAre(0, 1024, 0, 1024, 1536));
}

TEST(Replay, ItStartsAtARequestAtATimeOrAnywhere) {
  EXPECT_THAT(contexts(loads_of("  trace: five.jsonl\n  start: 2\n  loads: 2\n")),
              ElementsAre(512, 1536));
  const std::vector<LoadDraw> late = loads_of("  trace: five.jsonl\n  start: 2.5s\n  loads: 2\n");
  EXPECT_THAT(contexts(late), ElementsAre(512, 1536));
  EXPECT_THAT(arrivals_ms(late), ElementsAre(0, 0));  // the first load's stamp is the beginning
  std::set<std::vector<std::int64_t>> windows;
  for (std::int64_t replicate = 0; replicate < 40; ++replicate)
    windows.insert(contexts(loads_of("  trace: five.jsonl\n  loads: 3\n", replicate)));
  EXPECT_EQ(windows.size(), 3U);  // from request 0, 1 and 2
  EXPECT_EQ(contexts(loads_of("  trace: five.jsonl\n  loads: 3\n", 7)),
            contexts(loads_of("  trace: five.jsonl\n  loads: 3\n", 7)));
}

TEST(PrefixCache, BlocksThatEarlierRequestsBroughtAreResident) {
  EXPECT_THAT(residents(loads_of(kAll + "  prefix_cache: {tokens: 100000}\n")),
              ElementsAre(0, 1024, 0, 1024, 1536));
}

TEST(PrefixCache, TheLeastRecentlyUsedGoFirstAndOfARequestItsEnd) {
  // Three blocks: 1 2 | 1 2 3 | 9 1 2 (3 goes) | 1 2 4 (9 goes) | finds 1 2.
  EXPECT_THAT(residents(loads_of(kAll + "  prefix_cache: {tokens: 1536}\n")),
              ElementsAre(0, 1024, 0, 1024, 1024));
  // One block: 1 | 1 | 9 | 1 | 1.
  EXPECT_THAT(residents(loads_of(kAll + "  prefix_cache: {tokens: 1023}\n")),
              ElementsAre(0, 512, 0, 0, 512));
  EXPECT_THAT(residents(loads_of(kAll + "  prefix_cache: {tokens: 511}\n")),
              ElementsAre(0, 0, 0, 0, 0));
  EXPECT_THAT(residents(loads_of(kAll + "  prefix_cache: none\n")), ElementsAre(0, 0, 0, 0, 0));
}

TEST(PrefixCache, ASizeHoldsAsManyTokensOfTheModelAsFit) {
  // mistral-7b: 65 536 elements of 2 bytes a token; 140 MB are 1068 tokens, two blocks of 512.
  EXPECT_EQ(scenario_of(kAll + "  prefix_cache: 140MB\n").workload.prefix_cache->capacity_tokens,
            1068);
  EXPECT_THAT(residents(loads_of(kAll + "  prefix_cache: 140MB\n")),
              ElementsAre(0, 1024, 0, 512, 1024));  // 1 2 | 1 2 | 9 1 | 1 2 | finds 1 2
}

TEST(PrefixCache, RequestsBeforeTheFirstLoadCanWarmIt) {
  const std::string later = "  trace: five.jsonl\n  start: 3\n  loads: 2\n";
  EXPECT_THAT(residents(loads_of(later + "  prefix_cache: {tokens: 100000}\n")),
              ElementsAre(0, 1024));
  EXPECT_THAT(residents(loads_of(later + "  prefix_cache: {tokens: 100000, warm_up: 2}\n")),
              ElementsAre(1024, 1536));
}

TEST(PrefixCache, EveryPolicyMeetsTheSameAndOnlyTheRestTravels) {
  const Scenario s = scenario_of(kAll + "  prefix_cache: {tokens: 100000}\n");
  const Result<RunOutcome> fetched =
      run_replicate(s, *parse_policy("fixed:level=int8@token"), 0, "fluid");
  const Result<RunOutcome> recomputed = run_replicate(s, *parse_policy("recompute"), 0, "fluid");
  ASSERT_TRUE(fetched.ok() && recomputed.ok());
  const std::vector<std::int64_t> resident{0, 1024, 0, 1024, 1536};
  for (std::size_t i = 0; i < resident.size(); ++i) {
    const LoadRecord &f = fetched->loads[i], &r = recomputed->loads[i];
    EXPECT_EQ(f.bytes_moved.bytes(), (f.context_tokens - resident[i]) * 65'536) << i;  // 8 bit
    EXPECT_EQ(r.recomputed_tokens, r.context_tokens - resident[i]) << i;
  }
  // The last one has everything: its first token costs the pass over the query and no more.
  const LoadRecord& last = fetched->loads.back();
  EXPECT_EQ(last.ttft(), s.device.first_token_time(s.model, 32, 1536));
  EXPECT_EQ(last.kv_ready_at, last.arrived_at);
}

TEST(SharedPrefixes, AShareOfTheLoadsBeginsWithOneOfAFewTexts) {
  // One text of 1000 tokens: 62 whole blocks of 16.
  EXPECT_THAT(
      residents(loads_of("  loads: 4\n  context_tokens: 2000\n  prefix_cache: {tokens: 100000}\n"
                         "  shared_prefixes: {share: 1, tokens: 1000}\n")),
      ElementsAre(0, 992, 992, 992));
  std::int64_t num_hits = 0;
  for (const LoadDraw& load :
       loads_of("  loads: 1000\n  context_tokens: 2000\n  prefix_cache: {tokens: 10000000}\n"
                "  shared_prefixes: {share: 0.3, count: 10, tokens: 1000}\n"))
    num_hits += load.resident_tokens > 0 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(num_hits), 290, 60);  // 0.3 of 1000, less ten first ones; 4 sigma
}

TEST(Replay, TheHashOfTheTraceIsPartOfTheScenario) {
  const Scenario s = scenario_of(kAll);
  EXPECT_THAT(s.canonical, HasSubstr(sha256_hex(kFive)));
  EXPECT_NE(scenario_of(kAll + "  time_scale: 2\n").sha256, s.sha256);
  EXPECT_NE(scenario_of(kAll + "  debunch: 3s\n").sha256, s.sha256);
  EXPECT_NE(scenario_of(kAll + "  prefix_cache: {tokens: 512}\n").sha256, s.sha256);
  EXPECT_EQ(scenario_of(kAll + "  arrivals: trace\n").sha256, s.sha256);
  for (const char* key : {"trace\"", "sessions", "shared_prefixes", "prefix_cache"})
    EXPECT_THAT(read_text(kSmallScenario)->canonical, Not(HasSubstr(key))) << key;
}

TEST(Replay, WhatIsWrongIsOneLineThatNamesIt) {
  EXPECT_THAT(error_of("  trace: five.jsonl\n  loads: 6\n"),
              HasSubstr(":18: workload.loads: 6 from request 0 on, but the trace has 5 requests"));
  EXPECT_THAT(error_of("  trace: five.jsonl\n  start: 5\n"), HasSubstr("workload.start: 5 is out"));
  EXPECT_THAT(error_of("  trace: five.jsonl\n  start: later\n"), HasSubstr("workload.start"));
  EXPECT_THAT(error_of("  trace: none.jsonl\n"), HasSubstr("none.jsonl: no such file"));
  EXPECT_THAT(error_of("  trace: five.jsonl\n  reader: vidur\n"),
              HasSubstr("five.jsonl:1: no column"));
  EXPECT_THAT(error_of("  trace: five.jsonl\n  context_tokens: 5\n"),
              HasSubstr("unknown key `workload.context_tokens`"));
  EXPECT_THAT(error_of("  trace: five.jsonl\n  arrivals: isolated\n  debunch: 3s\n"),
              HasSubstr("workload.debunch: arrivals are not the trace's"));
  EXPECT_THAT(error_of(kAll + "  time_scale: 1000000\n  debunch: 1000s\n"),
              HasSubstr("workload.trace: would last more than ten years"));
  EXPECT_THAT(error_of("  context_tokens: 5\n  prefix_cache: 1GB\n"),
              HasSubstr("workload.prefix_cache: no two contexts share anything"));
  EXPECT_THAT(error_of("  context_tokens: 5\n  prefix_cache: 1\n"), HasSubstr("has no unit"));
  write_text("lengths.csv",
             "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n30,5,35,6.0\n");
  EXPECT_THAT(error_of("  trace: lengths.csv\n"),
              HasSubstr("workload.trace: the file has no arrivals; say how loads arrive"));
  EXPECT_THAT(error_of("  trace: lengths.csv\n  arrivals: isolated\n  start: 1s\n"),
              HasSubstr("workload.start: the file has no times"));
  EXPECT_THAT(error_of("  trace: lengths.csv\n  arrivals: isolated\n  prefix_cache: 1GB\n"),
              HasSubstr("workload.prefix_cache: the trace says nothing of shared prefixes"));
  EXPECT_EQ(error_of("  trace: lengths.csv\n  arrivals: isolated\n"), "no error");
}

}  // namespace
}  // namespace sluice
