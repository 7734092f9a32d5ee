#include "sim/scenario/scenario.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/scenario_files.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string error_of(const std::string& from, const std::string& to,
                     const ScenarioOverrides& overrides = {}) {
  const Result<Scenario> s = read_text(replaced(kSmallScenario, from, to), overrides);
  return s ? "no error" : s.error().to_line();
}

TEST(Scenario, ReadsEveryFieldWithItsUnit) {
  const Result<Scenario> s = read_text(kSmallScenario);
  ASSERT_TRUE(s.ok()) << s.error().to_line();
  EXPECT_EQ(s->name, "small");
  EXPECT_EQ(s->topology.main_link().delay, 10ms);
  EXPECT_EQ(s->slo, 2s);
  EXPECT_EQ(s->workload.context_tokens.low, 1000);
  EXPECT_EQ(s->ladder.levels.size(), 2u);
  EXPECT_EQ(s->ladder.levels[0].id(), "int8@token");
  EXPECT_EQ(s->policies.at(1).name(), "recompute");
}

TEST(Scenario, AMisspeltKeyNamesTheNearestKnownOneWithItsLine) {
  EXPECT_THAT(error_of("seed: 7", "sede: 7\nseed: 7"),
              HasSubstr(".yaml:3: unknown key `sede`; did you mean `seed`?"));
  EXPECT_THAT(error_of("  delay: 10ms", "  delay: 10ms\n  quue: 1MB"),
              HasSubstr(".yaml:9: unknown key `link.quue`; did you mean `queue`?"));
  EXPECT_THAT(error_of("  loads: 2", "  loads: 2\n  laods: 2"), HasSubstr("did you mean"));
}

// yaml-cpp 0.7 finds empty documents without end in the first of these.
TEST(Scenario, ATextThatIsNotOneYamlDocumentIsAnError) {
  const auto error_in = [](const std::string& text) { return read_text(text).error().to_line(); };
  EXPECT_THAT(error_in(", a\n"), HasSubstr("holds more than one YAML document"));
  EXPECT_THAT(error_in(""), HasSubstr("holds no YAML document"));
  EXPECT_THAT(error_in("a: 1\n---\nb: 2\n"), HasSubstr("holds more than one YAML document"));
  EXPECT_THAT(error_in("a: [1\n"), HasSubstr("is not valid YAML"));
}

TEST(Scenario, AMissingOrDoubledKeyIsAnError) {
  EXPECT_THAT(error_of("seed: 7\n", ""), HasSubstr("`seed` is missing"));
  EXPECT_THAT(error_of("  delay: 10ms\n", ""), HasSubstr("`link.delay` is missing"));
  EXPECT_THAT(error_of("seed: 7", "seed: 7\nseed: 8"), HasSubstr(":4: key `seed` is given twice"));
  EXPECT_THAT(error_of("policies:\n  - fixed:level=int8@token\n  - recompute\n", ""),
              HasSubstr("`policies` is missing"));
}

TEST(Scenario, AQuantityWithoutOrWithAnotherUnitIsAnError) {
  EXPECT_THAT(error_of("10ms", "10"), HasSubstr(":8: link.delay: `10` has no unit"));
  EXPECT_THAT(error_of("1Gbit/s", "1GB/s"), HasSubstr("unknown unit `GB/s`"));
  EXPECT_THAT(error_of("1Gbit/s", "-1Gbit/s"), HasSubstr("is not a quantity"));
  EXPECT_THAT(error_of("slo: 2s", "slo: 2 parsec"), HasSubstr("unknown unit"));
  EXPECT_THAT(error_of("slo: 2s", "slo: 0s"), HasSubstr("not positive"));
}

TEST(Scenario, WhatDoesNotExistIsNamedWithTheNearestThatDoes) {
  EXPECT_THAT(error_of("mistral-7b\n", "mistal-7b\n"), HasSubstr("mistral-7b"));
  EXPECT_THAT(error_of("device: a40", "device: a4o"), HasSubstr("a40"));
  EXPECT_THAT(error_of("- recompute", "- recompte"), HasSubstr("did you mean `recompute`?"));
  EXPECT_THAT(error_of("fixed:level=int8@token", "fixed:level=int9"),
              HasSubstr("there is no level `int9`"));
  EXPECT_THAT(error_of("cachegen-released@2]", "cachegen-released@9]"),
              HasSubstr("has no level `cachegen-released@9`"));
  EXPECT_THAT(error_of("tier: fluid", "tier: fluit"), HasSubstr("did you mean `fluid`?"));
  EXPECT_THAT(error_of("capacity: 1Gbit/s", "capacity: {generator: constnt, rate: 1Gbit/s}"),
              HasSubstr("constant"));
  EXPECT_THAT(error_of("capacity: 1Gbit/s", "capacity: {trace: no-such-file.txt}"),
              HasSubstr("no such file"));
}

TEST(Scenario, ValuesOutOfRangeAreErrors) {
  EXPECT_THAT(error_of("slo: 2s", "slo: 9000000000s"), HasSubstr("at most ten years"));
  EXPECT_THAT(error_of("arrivals: isolated", "arrivals: {every: 200000h}"),
              HasSubstr("at most ten years"));
  EXPECT_THAT(error_of("arrivals: isolated", "arrivals: {every: 5000h}"),
              HasSubstr("over more than a year"));
  EXPECT_THAT(error_of("replicates: 3", "replicates: 0"), HasSubstr("out of range"));
  EXPECT_THAT(error_of("replicates: 3", "replicates: 1e9"), HasSubstr("not a whole number"));
  EXPECT_THAT(error_of("low: 1000", "low: 5000"), HasSubstr("low passes high"));
  EXPECT_THAT(error_of("chunk_tokens: 1500", "chunk_tokens: -1"), HasSubstr("out of range"));
  EXPECT_THAT(error_of("delay: 10ms", "delay: 10min"), HasSubstr("one minute"));
  EXPECT_THAT(error_of("  delay: 10ms", "  delay: 10ms\n  mtu: 50B"), HasSubstr("mtu"));
  EXPECT_THAT(error_of("slo: 2s", "slo: 61s"), HasSubstr("give_up"));
}

TEST(Scenario, WhatIsNotOneYamlMappingIsAnError) {
  for (const char* text : {"", "[1, 2]", "just words", "a: b: c", "a: [1", "a: 1\n---\nb: 2\n",
                           "? [x]\n: y\n", "\x01\x02"}) {
    const Result<Scenario> s = read_text(text);
    ASSERT_FALSE(s.ok()) << text;
    EXPECT_THAT(s.error().to_line(),
                AllOf(HasSubstr("error: "), HasSubstr(".yaml"), Not(HasSubstr("\n"))));
  }
}

TEST(Scenario, EveryLineRemovedDoubledOrDistortedGivesAScenarioOrOneClearLine) {
  std::vector<std::string> lines;
  std::istringstream in(kSmallScenario);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  const auto joined = [](const std::vector<std::string>& parts) {
    std::string text;
    for (const std::string& p : parts) text += p + "\n";
    return text;
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::vector<std::vector<std::string>> variants(3, lines);
    variants[0].erase(variants[0].begin() + static_cast<std::ptrdiff_t>(i));
    variants[1].insert(variants[1].begin() + static_cast<std::ptrdiff_t>(i), lines[i]);
    variants[2][i] = lines[i] + " {";
    for (const auto& variant : variants) {
      const Result<Scenario> s = read_text(joined(variant));
      if (s) continue;
      EXPECT_THAT(s.error().to_line(), AllOf(HasSubstr("error: "), Not(HasSubstr("\n"))))
          << joined(variant);
    }
  }
}

TEST(Scenario, AnAmountThatNeitherFitsNorEndsIsRefused) {
  const std::string tokens = "context_tokens: {low: 1000, high: 4000}";
  EXPECT_THAT(error_of("chunk_tokens: 1500", "chunk_tokens: 1\n"), "no error");
  EXPECT_THAT(error_of(tokens, "context_tokens: 10000000"), "no error");
  EXPECT_THAT(
      error_of("chunk_tokens: 1500\nworkload:\n  arrivals: isolated\n  loads: 2\n  " + tokens,
               "chunk_tokens: 1\nworkload:\n  context_tokens: 10000000"),
      AllOf(HasSubstr("codec.chunk_tokens: 1 make 10000000 chunks"), HasSubstr(":13: ")));
  EXPECT_THAT(error_of("loads: 2", "loads: 1000000"),
              HasSubstr("workload.loads: 1000000 of up to 3"));
  EXPECT_THAT(error_of("replicates: 3", "replicates: 1000000"), HasSubstr(":4: replicates: "));
}

TEST(Scenario, WhatIsGivenTwiceIsNamed) {
  EXPECT_THAT(error_of("- recompute", "- recompute\n  - recompute"),
              HasSubstr("policy recompute is given twice"));
  EXPECT_THAT(error_of("tier: fluid", "tier: [fluid, fluid]"),
              HasSubstr("tier fluid is given twice"));
  ScenarioOverrides policies, tiers;
  policies.policies = {"recompute", "recompute"};
  tiers.tiers = {"fluid", "fluid"};
  EXPECT_THAT(error_of("seed: 7", "seed: 8", policies),
              HasSubstr("error: --policy: policy recompute"));
  EXPECT_THAT(error_of("seed: 7", "seed: 8", tiers), HasSubstr("error: --tier: tier fluid"));
}

TEST(Scenario, ANameThatWouldLeaveTheFolderOrPlayWithTheTerminalIsRefused) {
  for (const std::string name : {"../small", "a/b", "\"\"", ".hidden", "\"a b\"", "caf\xc3\xa9"})
    EXPECT_THAT(error_of("name: small", "name: " + name), HasSubstr("is not a name")) << name;
  EXPECT_THAT(error_of("Does it read?", "\"\\e[2J\""),
              HasSubstr("`question` holds a control character"));
  EXPECT_THAT(error_of("- recompute", "- \"recompute\\0\""), HasSubstr("control character"));
}

TEST(Scenario, ALinkThatCannotBeMadeIsAFaultOfTheFileBeforeAnythingRuns) {
  EXPECT_THAT(error_of("delay: 10ms", "delay: 10ms\n  mtu: 65536B"),
              HasSubstr(":9: link.mtu passes"));
  EXPECT_THAT(error_of("delay: 10ms", "delay: 10ms\n  trace_length: 0s"),
              AllOf(HasSubstr("scenario_under_test.yaml:"), HasSubstr("link.trace_length")));
  EXPECT_THAT(error_of("capacity: 1Gbit/s",
                       "capacity: {generator: square, high: 1Gbit/s, high_time: 1ns, low: 1Mbit/s, "
                       "low_time: 1ns}"),
              AllOf(HasSubstr("scenario_under_test.yaml:"), HasSubstr("rate changes")));
}

TEST(Scenario, TheHashNamesWhatResultsDependOnAndNothingElse) {
  const std::string plain = read_text(kSmallScenario)->sha256;
  EXPECT_EQ(read_text(replaced(kSmallScenario, "replicates: 3", "replicates: 9"))->sha256, plain);
  EXPECT_EQ(read_text(replaced(kSmallScenario, "- recompute", "- seed-ratio"))->sha256, plain);
  EXPECT_EQ(
      read_text(replaced(kSmallScenario, "tier: fluid", "tier: [fluid]  # a comment"))->sha256,
      plain);
  EXPECT_NE(read_text(replaced(kSmallScenario, "10ms", "11ms"))->sha256, plain);
  EXPECT_NE(read_text(replaced(kSmallScenario, "1Gbit/s", "2Gbit/s"))->sha256, plain);
  EXPECT_NE(read_text(replaced(kSmallScenario, "loads: 2", "loads: 3"))->sha256, plain);
  EXPECT_NE(read_text(replaced(kSmallScenario, "device: a40", "device: a100"))->sha256, plain);
  EXPECT_NE(read_text(replaced(kSmallScenario, "slo: 2s", "slo: 3s"))->sha256, plain);
}

TEST(LinkTraceOverride, AFileOfSeveralTracesRunsEachOnce) {
  const auto file = write_text(
      "bw.jsonl", "{\"bw\":[1,2,3]}\n{\"bw\":[4,5,6]}\n{\"bw\":[7,8,9.5]}\n{\"bw\":[1,1,1]}\n");
  ScenarioOverrides overrides;
  overrides.link_trace_file = file.string();
  const Result<Scenario> s = read_text(kSmallScenario, overrides);
  ASSERT_TRUE(s.ok()) << s.error().to_line();
  EXPECT_EQ(s->replicates, 4);
  EXPECT_EQ(s->workload.loads, 1);
  EXPECT_TRUE(s->topology.main_link().chunk_clocked());
  EXPECT_NE(s->sha256, read_text(kSmallScenario)->sha256);
}

TEST(LinkTrace, OneOfSeveralInAFileIsNamed) {
  write_text("car.csv",
             "protocol,num_tcp_conn,seq_num,A_throughput_mbps,B_throughput_mbps\n"
             "TCP,8,0,10,20\nTCP,8,1,30,40\n");
  const Result<Scenario> s = read_text(
      replaced(kSmallScenario, "1Gbit/s", "{trace: car.csv, trace_name: B_throughput_mbps}"));
  ASSERT_TRUE(s.ok()) << s.error().to_line();
  const auto& traces = std::get<ReplayedTraces>(s->topology.main_link().capacity).traces;
  ASSERT_EQ(traces.size(), 1U);
  EXPECT_EQ(traces.front().steps.front().rate, DataRate::bits_per_sec(20'000'000));
  EXPECT_THAT(error_of("capacity: 1Gbit/s", "capacity: {trace: car.csv, trace_name: C}"),
              HasSubstr("no trace `C` in"));
}

TEST(LinkTraceOverride, AFileWithoutTheDelaysThatTheScenarioTakesFromItIsRefused) {
  const auto with = write_text("with.json",
                               R"([{"duration_ms": 1000, "bandwidth_kbps": 5000, "latency_ms": 20},
{"duration_ms": 1000, "bandwidth_kbps": 9000, "latency_ms": 40}])");
  const auto without = write_text("without.txt", "1 5\n2 9\n3 7\n");
  const std::string text = replaced(kSmallScenario, "  capacity: 1Gbit/s\n  delay: 10ms\n",
                                    "  capacity: {trace: " + with.string() + "}\n  delay: trace\n");
  ASSERT_TRUE(read_text(text).ok()) << read_text(text).error().to_line();
  ScenarioOverrides overrides;
  overrides.link_trace_file = without.string();
  const Result<Scenario> s = read_text(text, overrides);
  ASSERT_FALSE(s.ok());
  EXPECT_THAT(s.error().to_line(), AllOf(HasSubstr("without.txt"), HasSubstr("says no delay")));
}

TEST(LinkTraceOverride, ABadTraceFileIsOneLineThatNamesIt) {
  for (const auto& [text, words] :
       std::vector<std::pair<std::string, std::string>>{{"", "empty"},
                                                        {"0 1\n1 -2\n", ":2"},
                                                        {"0 1\n2 1\n1 1\n", ":3"},
                                                        {"{\"bw\":[1,-2]}\n", "negative"}}) {
    ScenarioOverrides overrides;
    overrides.link_trace_file = write_text("bad-trace.txt", text).string();
    const Result<Scenario> s = read_text(kSmallScenario, overrides);
    ASSERT_FALSE(s.ok()) << text;
    EXPECT_THAT(s.error().to_line(), AllOf(HasSubstr("bad-trace.txt"), HasSubstr(words)));
  }
}

}  // namespace
}  // namespace sluice
