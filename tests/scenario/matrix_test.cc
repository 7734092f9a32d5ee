// A scenario with fields of several values: every combination, by name, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/scenario/scenario_files.h"

namespace sluice {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kWithMatrix = kSmallScenario + R"(matrix:
  link.delay: [1ms, 20ms]
  slo: [2s, 3s, 4s]
)";

Result<std::vector<Scenario>> read_all(const std::string& text, ScenarioOverrides overrides = {}) {
  return read_scenarios(write_text("matrix.yaml", text), overrides);
}

TEST(Matrix, MakesEveryCombinationTheLastFieldFastest) {
  const Result<std::vector<Scenario>> all = read_all(kWithMatrix);
  ASSERT_TRUE(all.ok()) << all.error().to_line();
  std::vector<std::string> names;
  for (const Scenario& s : *all) names.push_back(s.variant);
  EXPECT_THAT(names, ElementsAre("link.delay=1ms, slo=2s", "link.delay=1ms, slo=3s",
                                 "link.delay=1ms, slo=4s", "link.delay=20ms, slo=2s",
                                 "link.delay=20ms, slo=3s", "link.delay=20ms, slo=4s"));
  EXPECT_EQ(all->at(5).topology.main_link().delay, 20ms);
  EXPECT_EQ(all->at(5).slo, 4s);
  EXPECT_EQ(all->at(5).title(), "small [link.delay=20ms, slo=4s]");
  EXPECT_NE(all->at(0).sha256, all->at(1).sha256);
}

TEST(Matrix, OneVariantCanBeChosen) {
  ScenarioOverrides overrides;
  overrides.variant = "link.delay=20ms, slo=3s";
  const auto one = read_all(kWithMatrix, overrides);
  ASSERT_TRUE(one.ok()) << one.error().to_line();
  ASSERT_EQ(one->size(), 1u);
  EXPECT_EQ(one->front().slo, 3s);
  overrides.variant = "link.delay=20ms, slo=5s";
  EXPECT_THAT(read_all(kWithMatrix, overrides).error().to_line(),
              HasSubstr("there is no variant `link.delay=20ms, slo=5s`"));
}

TEST(Matrix, AFieldThatTheScenarioLeavesOutCanVary) {
  const auto all =
      read_all(kSmallScenario + "matrix: {transport.initial_window_segments: [10, 40]}\n");
  ASSERT_TRUE(all.ok()) << all.error().to_line();
  EXPECT_EQ(all->at(1).transport.initial_window_segments, 40);
}

TEST(Matrix, FaultsAreOneLineWithTheirPlace) {
  const auto error_of = [](const std::string& matrix) {
    const auto all = read_all(kSmallScenario + matrix);
    return all ? std::string("no error") : all.error().to_line();
  };
  // The small scenario has 23 lines.
  EXPECT_THAT(error_of("matrix:\n  link.dely: [1ms]\n"), HasSubstr("did you mean `delay`?"));
  EXPECT_THAT(error_of("matrix:\n  link.delay: [1ms, 20]\n"),
              HasSubstr(":25: link.delay: `20` has no unit"));
  EXPECT_THAT(error_of("matrix:\n  link.delay: 1ms\n"), HasSubstr("matrix.link.delay is no list"));
  EXPECT_THAT(error_of("matrix: [1]\n"), HasSubstr("no mapping"));
  EXPECT_THAT(error_of("matrix: {name: [a, b]}\n"), HasSubstr("no field that can vary"));
  std::string deep = "a";
  for (int i = 0; i < 100; ++i) deep += ".a";
  EXPECT_THAT(error_of("matrix: {" + deep + ": [1]}\n"), HasSubstr("no field that can vary"));
  EXPECT_THAT(error_of("matrix: {seed.x: [1]}\n"), HasSubstr("no field that can vary"));
  std::string many = "matrix:\n  seed: [";
  for (int i = 0; i < 1001; ++i) many += std::to_string(i) + ",";
  EXPECT_THAT(error_of(many + "]\n"), HasSubstr("more than 1000 variants"));
}

}  // namespace
}  // namespace sluice
