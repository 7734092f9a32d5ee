// Sessions, and requests that only warm the prefix cache: the loads are the same with and without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <tuple>

#include "sim/serving/draws.h"
#include "tests/scenario/scenario_files.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

const std::string kRequests =
    R"({"timestamp": 0, "input_length": 1024, "output_length": 1, "hash_ids": [1, 2]}
{"timestamp": 0, "input_length": 1536, "output_length": 1, "hash_ids": [1, 2, 3]}
{"timestamp": 3000, "input_length": 512, "output_length": 1, "hash_ids": [9]}
{"timestamp": 3000, "input_length": 1536, "output_length": 1, "hash_ids": [1, 2, 4]}
{"timestamp": 6000, "input_length": 1536, "output_length": 1, "hash_ids": [1, 2, 3]}
)";
const std::string kReplayed = "  trace: requests.jsonl\n  start: 3\n  loads: 2\n  debunch: 1s\n";
const std::string kDocuments =
    "  arrivals: {poisson_mean_gap: 1s}\n  loads: 200\n  context_tokens: {low: 1000, high: 4000}\n"
    "  shared_prefixes: {share: 0.5, count: 7, tokens: 800}\n";
const std::string kChats =
    "  arrivals: {poisson_mean_gap: 1s}\n  loads: 200\n  context_tokens: {low: 1000, high: 4000}\n"
    "  sessions: {concurrent: 9, turns: {low: 2, high: 6}, turn_tokens: {low: 100, high: 300}}\n";

// Two places that send, four GPUs that take.
std::string with_workload(const std::string& workload) {
  write_text("requests.jsonl", kRequests);
  const std::string topology =
      "topology:\n  preset: explicit\n  nodes: [disk, pool, hub, g1, g2, g3, g4]\n  links:\n"
      "    - {from: disk, to: hub, capacity: 1Gbit/s, delay: 10ms}\n"
      "    - {from: pool, to: hub, capacity: 1Gbit/s, delay: 10ms}\n"
      "    - {from: hub, to: g1, capacity: 1Gbit/s, delay: 1ms}\n"
      "    - {from: hub, to: g2, capacity: 1Gbit/s, delay: 1ms}\n"
      "    - {from: hub, to: g3, capacity: 1Gbit/s, delay: 1ms}\n"
      "    - {from: hub, to: g4, capacity: 1Gbit/s, delay: 1ms}\n"
      "  sources: {disk: 0.3, pool: 0.7}\n  destinations: [g1, g2, g3, g4]\n";
  return replaced(replaced(kSmallScenario, "link:\n  capacity: 1Gbit/s\n  delay: 10ms\n", topology),
                  "  arrivals: isolated\n  loads: 2\n  context_tokens: {low: 1000, high: 4000}\n",
                  workload);
}

std::vector<LoadDraw> loads_of(const std::string& workload, std::int64_t replicate = 0) {
  const Result<Scenario> s = read_text(with_workload(workload));
  EXPECT_TRUE(s.ok()) << (s ? "" : s.error().to_line());
  if (!s) return {};
  const Result<ReplicateDraws> draws = draw_replicate(*s, replicate);
  EXPECT_TRUE(draws.ok()) << (draws ? "" : draws.error().to_line());
  return draws ? draws->loads : std::vector<LoadDraw>{};
}

std::string error_of(const std::string& workload) {
  const Result<Scenario> s = read_text(with_workload(workload));
  return s ? "no error" : s.error().to_line();
}

// All of a load but what is resident.
using WhatIsAsked = std::tuple<std::int64_t, std::int64_t, NodeIndex, NodeIndex>;
std::vector<WhatIsAsked> asked(const std::vector<LoadDraw>& loads) {
  std::vector<WhatIsAsked> all;
  for (const LoadDraw& load : loads) {
    all.emplace_back(load.context_tokens, to_ns(load.arrives_at - kRunStart), load.source,
                     load.destination);
  }
  return all;
}

std::int64_t num_resident(const std::vector<LoadDraw>& loads) {
  std::int64_t tokens = 0;
  for (const LoadDraw& load : loads) tokens += load.resident_tokens;
  return tokens;
}

TEST(WarmUp, HowManyRequestsWarmTheCacheDoesNotMoveTheLoads) {
  for (const std::string& workload : {kReplayed, kDocuments, kChats}) {
    for (std::int64_t replicate = 0; replicate < 3; ++replicate) {
      const auto with = [&](const std::string& cache) {
        return asked(loads_of(workload + "  prefix_cache: " + cache + "\n", replicate));
      };
      const std::vector<WhatIsAsked> plain = with("none");
      ASSERT_FALSE(plain.empty());
      for (const char* cache :
           {"{tokens: 1000}", "{tokens: 1000, warm_up: 1}", "{tokens: 1000, warm_up: 2}",
            "{tokens: 100000, warm_up: 100}", "{tokens: 10000000, warm_up: 1000}"})
        EXPECT_EQ(with(cache), plain) << workload << cache;
    }
  }
}

TEST(WarmUp, TheLoadsOfWhichItIsSaidAreManyAndDiffer) {
  const std::vector<WhatIsAsked> chats = asked(loads_of(kChats));
  EXPECT_EQ(chats.size(), 200U);
  std::set<NodeIndex> sources, destinations;
  for (const WhatIsAsked& load : chats) {
    sources.insert(std::get<2>(load));
    destinations.insert(std::get<3>(load));
  }
  EXPECT_EQ(sources.size(), 2U);
  EXPECT_EQ(destinations.size(), 4U);
}

TEST(WarmUp, MoreRequestsBeforeTheLoadsLeaveMoreOfThemResident) {
  for (const std::string& workload : {kDocuments, kChats}) {
    const auto with = [&](const std::string& warm_up) {
      return num_resident(
          loads_of(workload + "  prefix_cache: {tokens: 10000000, warm_up: " + warm_up + "}\n"));
    };
    EXPECT_LT(with("0"), with("3")) << workload;
    EXPECT_LT(with("3"), with("1000")) << workload;
  }
}

TEST(WarmUp, AFullyWarmCacheKnowsEveryOpenChat) {
  // 16 turns of 16 tokens, all of whole blocks: a turn finds all but the 16 it adds, and only the
  // first one of a chat finds nothing.
  const std::string chat =
      "  loads: 300\n  context_tokens: 1600\n"
      "  sessions: {concurrent: 5, turns: 16, turn_tokens: 16}\n"
      "  prefix_cache: {tokens: 10000000, warm_up: 1000}\n";
  for (const LoadDraw& load : loads_of(chat)) {
    const std::int64_t known = load.context_tokens == 1600 ? 0 : load.context_tokens - 16;
    EXPECT_EQ(load.resident_tokens, known);
  }
}

TEST(Sessions, EachTurnExtendsItsSessionsContextAndFindsIt) {
  const std::string chat =
      "  loads: 7\n  context_tokens: 1600\n"
      "  sessions: {concurrent: 1, turns: 3, turn_tokens: 160}\n";
  const std::vector<LoadDraw> loads = loads_of(chat + "  prefix_cache: {tokens: 100000}\n");
  // 1600, 1760, 1920, and again; the run begins with any of them, and finds nothing of it.
  for (std::size_t i = 1; i < loads.size(); ++i) {
    const std::int64_t before = loads[i - 1].context_tokens;
    EXPECT_EQ(loads[i].context_tokens, before == 1920 ? 1600 : before + 160);
    EXPECT_EQ(loads[i].resident_tokens, before == 1920 ? 0 : before);
  }
  EXPECT_EQ(loads.front().resident_tokens, 0);
  EXPECT_EQ(read_text(with_workload(chat))->workload.context_tokens.high, 1920);
}

TEST(Sessions, ARunBeginsInTheMidstOfThem) {
  // As many sessions have one turn as have two: of three turns one is a second one, of 1000 + 100
  // tokens.
  const std::string chat =
      "  loads: 1\n  context_tokens: 1000\n"
      "  sessions: {concurrent: 1, turns: {low: 1, high: 2}, turn_tokens: 100}\n";
  const Result<Scenario> s = read_text(with_workload(chat));
  ASSERT_TRUE(s.ok()) << s.error().to_line();
  std::int64_t num_second = 0;
  for (std::int64_t replicate = 0; replicate < 1200; ++replicate) {
    const Result<ReplicateDraws> draws = draw_replicate(*s, replicate);
    ASSERT_TRUE(draws.ok());
    num_second += draws->loads.front().context_tokens == 1100 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(num_second), 400, 65);  // 4 sqrt(1200 * 2/9)
}

TEST(Sessions, ALastBlockThatWasNotFullIsNotFoundAgain) {
  const std::vector<LoadDraw> loads = loads_of(
      "  loads: 4\n  context_tokens: 1601\n"
      "  sessions: {concurrent: 1, turns: 2, turn_tokens: 100}\n"
      "  prefix_cache: {tokens: 100000}\n");
  std::int64_t num_second = 0;
  for (std::size_t i = 1; i < loads.size(); ++i) {
    const bool is_second = loads[i].context_tokens == 1701;
    EXPECT_EQ(loads[i].resident_tokens, is_second ? 1600 : 0);
    num_second += is_second ? 1 : 0;
  }
  EXPECT_GE(num_second, 1);
}

TEST(Sessions, TurnsOfOneSessionGoToOneGpu) {
  const std::vector<LoadDraw> loads = loads_of(
      "  loads: 200\n  context_tokens: 1600\n  prefix_cache: {tokens: 10000000}\n"
      "  sessions: {concurrent: 5, turns: 20000, turn_tokens: 16}\n");
  std::int64_t num_first = 0;
  for (const LoadDraw& load : loads) num_first += load.resident_tokens == 0 ? 1 : 0;
  EXPECT_EQ(num_first, 5);  // every other turn finds its session where it was
}

TEST(WarmUp, WhatNoMemoryWouldHoldIsRefused) {
  const std::string cache = "  prefix_cache: {tokens: 1000, warm_up: 1000}\n";
  EXPECT_THAT(error_of("  loads: 1\n  context_tokens: 1600\n"
                       "  shared_prefixes: {share: 1, count: 1000, tokens: 1600000}\n" +
                       cache),
              HasSubstr("workload.shared_prefixes: 1000 texts of 1600000 tokens make more "
                        "than 20000000 blocks of 16 tokens; use fewer or shorter ones"));
  EXPECT_THAT(
      error_of("  loads: 1\n  context_tokens: 1600000\n"
               "  shared_prefixes: {share: 1, tokens: 1600}\n" +
               cache),
      HasSubstr("workload.prefix_cache: 1000 requests before the loads and 1 loads of up to "
                "1600000 tokens make more than 20000000 blocks of 16 tokens"));
  EXPECT_THAT(error_of("  loads: 1\n  context_tokens: 1600\n"
                       "  sessions: {concurrent: 1000000, turns: 1000, turn_tokens: 1}\n"),
              HasSubstr("workload.sessions: 1000000 of up to 1000 turns make more than 20000000 "
                        "turns; use fewer or shorter ones"));
  EXPECT_THAT(error_of("  loads: 1\n  context_tokens: 160000\n"
                       "  sessions: {concurrent: 10000, turns: 2, turn_tokens: 1}\n" +
                       cache),
              HasSubstr("workload.sessions: 10000 of up to 160001 tokens make more than 20000000 "
                        "blocks of 16 tokens"));
  // Without a cache nobody asks for blocks.
  EXPECT_EQ(error_of("  loads: 1\n  context_tokens: 1600\n"
                     "  shared_prefixes: {share: 1, count: 1000, tokens: 1600000}\n"),
            "no error");
}

}  // namespace
}  // namespace sluice
